package dev.baton.coordination.jetcd;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Keys;
import io.etcd.jetcd.api.AlarmMember;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmRequest.AlarmAction;
import io.etcd.jetcd.api.AlarmType;
import io.etcd.jetcd.api.AuthEnableRequest;
import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthRoleAddRequest;
import io.etcd.jetcd.api.AuthRoleGrantPermissionRequest;
import io.etcd.jetcd.api.AuthUserAddRequest;
import io.etcd.jetcd.api.AuthUserGrantRoleRequest;
import io.etcd.jetcd.api.DefragmentRequest;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.Permission;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.util.concurrent.TimeUnit;

/** What an operator does to one member. */
public final class EtcdAdmin implements AutoCloseable {
  private final ManagedChannel channel;

  public EtcdAdmin(String endpoint) {
    this.channel =
        NettyChannelBuilder.forTarget(endpoint, InsecureChannelCredentials.create()).build();
  }

  /** Gives freed pages back, and takes the NOSPACE alarm away. */
  public void makeRoom() {
    MaintenanceGrpc.MaintenanceBlockingStub stub =
        MaintenanceGrpc.newBlockingStub(channel).withDeadlineAfter(10, TimeUnit.SECONDS);
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

  /** From now on nobody gets in but root and a user who may use one prefix. */
  public void enableAuthentication(String user, String password, String prefix) {
    AuthGrpc.AuthBlockingStub stub =
        AuthGrpc.newBlockingStub(channel).withDeadlineAfter(10, TimeUnit.SECONDS);
    stub.userAdd(AuthUserAddRequest.newBuilder().setName("root").setPassword("root").build());
    stub.userGrantRole(
        AuthUserGrantRoleRequest.newBuilder().setUser("root").setRole("root").build());
    stub.roleAdd(AuthRoleAddRequest.newBuilder().setName("baton").build());
    ByteString from = ByteString.copyFromUtf8(prefix);
    stub.roleGrantPermission(
        AuthRoleGrantPermissionRequest.newBuilder()
            .setName("baton")
            .setPerm(
                Permission.newBuilder()
                    .setPermType(Permission.Type.READWRITE)
                    .setKey(from)
                    .setRangeEnd(Keys.end(from)))
            .build());
    stub.userAdd(AuthUserAddRequest.newBuilder().setName(user).setPassword(password).build());
    stub.userGrantRole(
        AuthUserGrantRoleRequest.newBuilder().setUser(user).setRole("baton").build());
    stub.authEnable(AuthEnableRequest.getDefaultInstance());
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
