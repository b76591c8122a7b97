package dev.baton.scheduler.testing;

import io.etcd.jetcd.api.AlarmMember;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmRequest.AlarmAction;
import io.etcd.jetcd.api.AlarmType;
import io.etcd.jetcd.api.DefragmentRequest;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** What an operator does to one member of etcd, and asks it. */
public final class Operator implements AutoCloseable {
  private final String endpoint;
  private final ManagedChannel channel;

  public Operator(String endpoint) {
    this.endpoint = endpoint;
    this.channel =
        NettyChannelBuilder.forTarget(endpoint, InsecureChannelCredentials.create()).build();
  }

  /** Gives freed pages back, and takes the NOSPACE alarm away. */
  public void makeRoom() {
    MaintenanceGrpc.MaintenanceBlockingStub stub =
        MaintenanceGrpc.newBlockingStub(channel).withDeadlineAfter(20, TimeUnit.SECONDS);
    stub.defragment(DefragmentRequest.getDefaultInstance());
    for (AlarmMember alarm :
        stub.alarm(AlarmRequest.newBuilder().setAction(AlarmAction.GET).build()).getAlarmsList()) {
      var unused =
          stub.alarm(
              AlarmRequest.newBuilder()
                  .setAction(AlarmAction.DEACTIVATE)
                  .setMemberID(alarm.getMemberID())
                  .setAlarm(AlarmType.NOSPACE)
                  .build());
    }
  }

  /** Leases that this member knows. */
  public long leases() {
    long leases = 0;
    try (InputStream body = URI.create("http://" + endpoint + "/metrics").toURL().openStream()) {
      for (String line : new String(body.readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
        if (line.startsWith("etcd_debugging_lease_granted_total ")) {
          leases += count(line);
        } else if (line.startsWith("etcd_debugging_lease_revoked_total ")) {
          leases -= count(line);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return leases;
  }

  private static long count(String line) {
    return (long) Double.parseDouble(line.substring(line.indexOf(' ') + 1));
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
