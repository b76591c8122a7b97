package dev.baton.coordination.jetcd;

import com.google.protobuf.ByteString;
import dev.baton.coordination.Etcd;
import dev.baton.coordination.Txn;
import dev.baton.coordination.TxnReply;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchRequest;
import java.util.ArrayList;
import java.util.List;

/** Our words to etcd's messages and back. */
final class Wire {
  private Wire() {}

  static TxnRequest txn(Txn txn) {
    TxnRequest.Builder request = TxnRequest.newBuilder();
    txn.compares().forEach(compare -> request.addCompare(compare(compare)));
    txn.then().forEach(op -> request.addSuccess(op(op)));
    txn.otherwise().forEach(op -> request.addFailure(op(op)));
    return request.build();
  }

  static TxnReply reply(TxnResponse response) {
    List<Etcd.KeyValue> read = new ArrayList<>();
    for (ResponseOp op : response.getResponsesList()) {
      op.getResponseRange().getKvsList().forEach(kv -> read.add(keyValue(kv)));
    }
    return new TxnReply(response.getSucceeded(), response.getHeader().getRevision(), read);
  }

  static RangeRequest get(ByteString key) {
    return RangeRequest.newBuilder().setKey(key).build();
  }

  static RangeRequest list(Etcd.ListRequest request) {
    return RangeRequest.newBuilder()
        .setKey(request.from())
        .setRangeEnd(request.to())
        .setLimit(request.limit())
        .setRevision(request.revision())
        .setKeysOnly(request.keysOnly())
        .build();
  }

  static Etcd.KeyValue keyValue(KeyValue kv) {
    return new Etcd.KeyValue(
        kv.getKey(), kv.getValue(), kv.getCreateRevision(), kv.getModRevision(), kv.getLease());
  }

  static WatchRequest watch(Etcd.WatchRequest request) {
    WatchCreateRequest.Builder create =
        WatchCreateRequest.newBuilder()
            .setKey(request.from())
            .setRangeEnd(request.to())
            .setStartRevision(request.startRevision())
            .setProgressNotify(true);
    if (!request.deletes()) {
      create.addFilters(WatchCreateRequest.FilterType.NODELETE);
    }
    return WatchRequest.newBuilder().setCreateRequest(create).build();
  }

  static Etcd.WatchEvent event(Event event) {
    KeyValue kv = event.getKv();
    return new Etcd.WatchEvent(
        kv.getKey(),
        event.getType() == Event.EventType.DELETE ? null : kv.getValue(),
        kv.getCreateRevision(),
        kv.getModRevision());
  }

  private static Compare compare(Txn.Compare compare) {
    Compare.Builder wire =
        Compare.newBuilder().setKey(compare.key()).setResult(Compare.CompareResult.EQUAL);
    return switch (compare) {
      case Txn.Compare.ModRevision mod ->
          wire.setTarget(Compare.CompareTarget.MOD).setModRevision(mod.revision()).build();
      case Txn.Compare.CreateRevision create ->
          wire.setTarget(Compare.CompareTarget.CREATE).setCreateRevision(create.revision()).build();
    };
  }

  private static RequestOp op(Txn.Op op) {
    RequestOp.Builder wire = RequestOp.newBuilder();
    return switch (op) {
      case Txn.Op.Put put ->
          wire.setRequestPut(
                  PutRequest.newBuilder()
                      .setKey(put.key())
                      .setValue(put.value())
                      .setLease(put.leaseId()))
              .build();
      case Txn.Op.Delete delete ->
          wire.setRequestDeleteRange(DeleteRangeRequest.newBuilder().setKey(delete.key())).build();
      case Txn.Op.DeleteRange range ->
          wire.setRequestDeleteRange(
                  DeleteRangeRequest.newBuilder().setKey(range.from()).setRangeEnd(range.to()))
              .build();
      case Txn.Op.Get get -> wire.setRequestRange(get(get.key())).build();
    };
  }
}
