package dev.baton.chaos.environment.process;

import dev.baton.chaos.environment.process.Rules.Way;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Stands before one port of a member and passes bytes as the rules say. It refuses connections when
 * the member does: a refusal is evidence of death, so while nobody listens behind it it does not
 * listen either. A cut way still accepts connections, which stay silent.
 *
 * <p>A virtual thread listens; each connection has four more: one that reads and one that writes in
 * each direction, since what is under way must not hold up what follows.
 */
final class FaultProxy implements AutoCloseable {
  private static final int CHUNK_BYTES = 32 << 10;
  private static final int MAX_CHUNKS = 256;
  private static final int PROBE_MILLIS = 1000;
  private static final long PAUSE_MILLIS = 15;
  private static final int BACKLOG = 128;

  private final String member;
  private final InetSocketAddress listen;
  private final InetSocketAddress target;
  private final Callers callers;
  private final Rules rules;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private volatile @Nullable ServerSocket server;

  /** Bytes that are under way; none: the sender has closed. */
  private static final class Chunk {
    private final byte[] bytes;
    private final long dueNanos;

    Chunk(byte[] bytes, long dueNanos) {
      this.bytes = bytes;
      this.dueNanos = dueNanos;
    }
  }

  FaultProxy(
      String member,
      InetSocketAddress listen,
      InetSocketAddress target,
      Callers callers,
      Rules rules) {
    this.member = member;
    this.listen = listen;
    this.target = target;
    this.callers = callers;
    this.rules = rules;
    start(this::serve);
  }

  @Override
  public void close() {
    closed.countDown();
    stopListening();
    sockets.forEach(FaultProxy::closeQuietly);
    threads.forEach(Thread::interrupt);
  }

  private void start(Task task) {
    Thread thread =
        Thread.ofVirtual()
            .unstarted(() -> {
              try {
                task.run();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              } finally {
                threads.remove(Thread.currentThread());
              }
            });
    threads.add(thread);
    thread.start();
  }

  private interface Task {
    void run() throws InterruptedException;
  }

  private void serve() throws InterruptedException {
    while (closed.getCount() > 0) {
      if (isListening()) {
        try (ServerSocket open = new ServerSocket()) {
          open.setReuseAddress(true);
          open.bind(listen, BACKLOG);
          server = open;
          accept(open);
        } catch (IOException e) {
          // It was closed because the member refuses, or its address is not free yet.
        }
      }
      boolean ignored = closed.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  private void accept(ServerSocket open) throws IOException {
    while (closed.getCount() > 0) {
      Socket caller = open.accept();
      sockets.add(caller);
      start(() -> connect(caller));
    }
  }

  /** Whether the member takes connections now. */
  private boolean isListening() {
    try (Socket probe = new Socket()) {
      probe.connect(target, PROBE_MILLIS);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private void stopListening() {
    ServerSocket open = server;
    if (open != null) {
      try {
        open.close();
      } catch (IOException e) {
        // Closed is closed.
      }
    }
  }

  private void connect(Socket caller) {
    Socket called = new Socket();
    sockets.add(called);
    try {
      String source = callers.nameOf(caller.getPort(), listen.getPort());
      called.connect(target, PROBE_MILLIS);
      caller.setTcpNoDelay(true);
      called.setTcpNoDelay(true);
      pump(caller, called, new Way(source, member), false);
      pump(called, caller, new Way(member, source), true);
    } catch (IOException e) {
      if (!isListening()) {
        stopListening();
      }
      reset(caller);
      closeQuietly(called);
      sockets.remove(caller);
      sockets.remove(called);
    }
  }

  /**
   * Passes bytes one way.
   *
   * @param fromMember the sender is the member: its end may mean that nobody listens any more
   */
  private void pump(Socket from, Socket to, Way way, boolean fromMember) {
    BlockingQueue<Chunk> underWay = new ArrayBlockingQueue<>(MAX_CHUNKS);
    start(() -> {
      byte[] buffer = new byte[CHUNK_BYTES];
      long due = 0;
      try {
        InputStream in = from.getInputStream();
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
          due = Math.max(due, System.nanoTime() + rules.travel(way).toNanos());
          underWay.put(new Chunk(Arrays.copyOf(buffer, read), due));
        }
      } catch (IOException e) {
        // A reset: the other side learns of it as of an end.
      }
      if (fromMember && !isListening()) {
        stopListening();
      }
      underWay.put(new Chunk(new byte[0], due));
    });
    start(() -> {
      try {
        OutputStream out = to.getOutputStream();
        for (Chunk chunk = underWay.take(); chunk.bytes.length > 0; chunk = underWay.take()) {
          rules.awaitPassage(way, chunk.dueNanos);
          out.write(chunk.bytes);
        }
        rules.awaitPassage(way, System.nanoTime());
        to.shutdownOutput();
      } catch (IOException e) {
        closeQuietly(from);
      } finally {
        if (fromMember) {
          // The member has closed, and so has the whole connection: nothing here half-closes.
          closeQuietly(to);
          closeQuietly(from);
          sockets.remove(to);
          sockets.remove(from);
        }
      }
    });
  }

  private static void reset(Socket socket) {
    try {
      socket.setSoLinger(true, 0);
    } catch (IOException e) {
      // Then it is closed as others are.
    }
    closeQuietly(socket);
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // Closed is closed.
    }
  }
}
