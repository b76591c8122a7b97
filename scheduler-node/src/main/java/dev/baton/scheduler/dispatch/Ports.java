package dev.baton.scheduler.dispatch;

import dev.baton.node.HostPort;
import dev.baton.node.Incumbent;
import dev.baton.scheduler.loop.WorkerPorts;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Knocks at other processes' ports. */
public final class Ports implements WorkerPorts {
  private static final Duration CONNECT_TIMEOUT = Duration.ofMillis(300);

  private final Incumbent incumbent = new Incumbent();

  @Override
  public CompletableFuture<Boolean> answers(String address, String incarnation) {
    try {
      HostPort at = HostPort.parse(address);
      return incumbent.answers(at.host(), at.port(), incarnation);
    } catch (IllegalArgumentException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public CompletableFuture<Boolean> isRefused(String address) {
    return knock(address);
  }

  /** Whether a fresh connection is refused; fails if neither that nor accepted in time. */
  static CompletableFuture<Boolean> knock(String address) {
    CompletableFuture<Boolean> answer = new CompletableFuture<>();
    Thread.ofVirtual()
        .name("knocking at " + address)
        .start(() -> {
          try (Socket socket = new Socket()) {
            HostPort at = HostPort.parse(address);
            socket.connect(
                new InetSocketAddress(at.host(), at.port()), (int) CONNECT_TIMEOUT.toMillis());
            answer.complete(false);
          } catch (ConnectException e) {
            answer.complete(true);
          } catch (IOException | IllegalArgumentException e) {
            answer.completeExceptionally(e);
          }
        });
    return answer;
  }
}
