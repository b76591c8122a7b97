"""A worker for Baton: it registers, keeps a stream to every scheduler node, and obeys the one that leads.

docs/worker-protocol.md tells what each rule is for. Everything here runs on one event loop, but for the handlers,
which run on threads: so nothing is locked, and no handler delays a heartbeat.
"""

import asyncio
import json
import logging
import secrets
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
from baton.v1 import worker_pb2 as pb
from baton.v1 import worker_pb2_grpc

log = logging.getLogger("baton.worker")

CALL_SECONDS = 5
DRAIN_SECONDS = 30
GRACE_SECONDS = 10
UNANSWERED_PINGS = 3
OUTPUT_BYTES = 256 << 10
ERROR_BYTES = 4 << 10
MESSAGE_BYTES = 512 << 10
NEVER_KEPT = 10_000


class TaskFailed(Exception):
    """The attempt has failed; the task's retry policy says whether another follows."""


class FatalTaskFailed(TaskFailed):
    """The attempt has failed, and none can do better."""


class Refused(Exception):
    """The cluster does not take this worker: the sentence says why."""


class Task:
    """What a handler gets. `params` are Python values; `stop` is set when the handler should return."""

    def __init__(self, assignment):
        self.run_id = assignment.workflow_id
        self.task_id = assignment.task_id
        self.attempt = assignment.attempt
        self.type = assignment.task_type
        self.idempotency_key = assignment.idempotency_key
        self.params = {name: json.loads(text) for name, text in assignment.params.items()}
        self.stop = threading.Event()


class Stream:
    """The stream to one node, opened again and again until the node is gone."""

    def __init__(self, worker, node, address):
        self.worker, self.node, self.address = worker, node, address
        self.outgoing = None
        self.call = None
        self.lease_id = 0
        self.greeted_in = 0
        self.unanswered = 0
        self.task = asyncio.create_task(self._run())

    async def _run(self):
        pause = 0.1
        async with grpc.aio.insecure_channel(self.address) as channel:
            stub = worker_pb2_grpc.WorkflowServiceStub(channel)
            while True:
                self.outgoing = asyncio.Queue()
                self.lease_id, self.greeted_in, self.unanswered = self.worker.lease_id, 0, 0
                hello = pb.WorkerHello(worker_id=self.worker.id, protocol_version=1)
                self.say(hello=hello, ping=pb.Ping(nonce=1))
                self.call = stub.AssignTask(self._messages(self.outgoing))
                heard = False
                try:
                    async for message in self.call:
                        pause, heard = 0.1, True
                        self.worker.received(self, message)
                except (grpc.aio.AioRpcError, asyncio.CancelledError) as e:
                    if asyncio.current_task().cancelling():
                        raise
                    if heard:
                        why = e.details() if isinstance(e, grpc.aio.AioRpcError) else "it is opened again"
                        log.info("the stream to %s has ended: %s", self.node, why)
                self.call, self.outgoing = None, None
                await asyncio.sleep(pause * (0.5 + secrets.randbelow(500) / 1000))
                pause = min(1.0, pause * 2)

    @staticmethod
    async def _messages(queue):
        while True:
            yield await queue.get()

    def say(self, **fields):
        worker = self.worker
        header = {"generation": worker.generation, "term": worker.term, "incarnation": worker.incarnation}
        if self.outgoing is not None:
            self.outgoing.put_nowait(pb.WorkerMessage(**header, **fields))

    def reopen(self):
        if self.call is not None:
            self.call.cancel()

    def close(self):
        self.task.cancel()


class Worker:
    """handlers: from a task type to a function that takes a Task and returns what JSON can hold."""

    def __init__(self, worker_id, schedulers, handlers, slots=4):
        self.id, self.handlers, self.slots = worker_id, handlers, slots
        self.incarnation = secrets.token_hex(8)
        self.known = list(schedulers)
        self.generation, self.term, self.leader = 0, 0, None
        self.lease_id, self.lease_until = 0, 0.0
        self.streams = {}
        self.running = {}  # attempt -> Task
        self.outbox = {}  # attempt -> result that no leader has acknowledged
        self.lingering = set()  # attempts whose result is said although the handler has not returned
        self.returned = {}  # attempts for which there was no slot, until that is acknowledged
        self.never = {}  # attempts that must not start here any more; the oldest are forgotten
        self.unsent = {"results": {}, "returned": {}, "cancelled_unknown": {}}
        self.inventory_due = False
        self.draining = False
        self.leaving = False
        self.interval = 3
        self.changed = asyncio.Event()
        self.registration_due = asyncio.Event()
        self.pool = ThreadPoolExecutor(max_workers=slots, thread_name_prefix="handler")
        self.port = 0

    # The life of a worker.

    async def run(self):
        """Until it is drained, by an operator or by SIGTERM."""
        health = await asyncio.start_server(self._health, "127.0.0.1", 0)
        self.port = health.sockets[0].getsockname()[1]
        stopping = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stopping.set)
        keeping = asyncio.create_task(self._keep_registered())
        ticking = asyncio.create_task(self._tick())
        try:
            await self._first(keeping, ticking, stopping.wait(), self._until(lambda: self.draining))
            limit = DRAIN_SECONDS if stopping.is_set() else None
            self.drain()
            idle = self._until(lambda: not self.running and not self.outbox)
            await asyncio.wait_for(self._first(keeping, ticking, idle), limit)
        except TimeoutError:
            log.warning("%d attempts still run; they are lost, and run elsewhere", len(self.running))
            for task in self.running.values():
                task.stop.set()
        finally:
            self.leaving = True
            self.registration_due.set()
            await asyncio.wait({keeping})  # or a call under way would register the worker again
            ticking.cancel()
            if self.lease_id != 0:
                await self._call("Deregister", pb.DeregisterRequest(worker_id=self.id, incarnation=self.incarnation))
            for stream in self.streams.values():
                stream.close()
            health.close()
        log.info("worker %s has ended", self.id)

    @staticmethod
    async def _first(*waiting):
        tasks = [asyncio.ensure_future(each) for each in waiting]
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()

    async def _until(self, holds):
        while not holds():
            self.changed.clear()
            await self.changed.wait()

    def drain(self):
        """From now on everything is returned; what runs may end."""
        if not self.draining:
            self.draining = True
            self.registration_due.set()
            self.changed.set()
            log.info("draining: %d attempts run", len(self.running))

    async def _health(self, reader, writer):
        await reader.readline()
        body = json.dumps({"ok": True, "id": self.id, "incarnation": self.incarnation})
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        writer.write(f"{head}Connection: close\r\n\r\n{body}".encode())
        await writer.drain()
        writer.close()

    # Registration.

    async def _keep_registered(self):
        pause = 0.1
        while not self.leaving:
            sent = time.monotonic()
            if self.lease_id == 0 or self.registration_due.is_set():
                self.registration_due.clear()
                answer = await self._call("Register", self._registration())
                if answer is not None and not answer.accepted:
                    raise Refused(answer.message)
            else:
                answer = await self._call("Heartbeat", self._heartbeat())
                if answer is not None and not answer.ok:
                    log.warning("%s", answer.message)
                    self.lease_id, answer = 0, None
                    continue
            if answer is None:
                if self.draining:
                    self.registration_due.set()
                await asyncio.sleep(pause)
                pause = min(2.0, pause * 2)
                continue
            pause = 0.1
            self._registered(answer, sent)
            self.interval = getattr(answer, "heartbeat_interval_sec", self.interval)
            try:
                await asyncio.wait_for(self.registration_due.wait(), self.interval)
            except TimeoutError:
                pass

    def _registration(self):
        return pb.RegisterRequest(
            worker_id=self.id, incarnation=self.incarnation, host="127.0.0.1", port=self.port,
            capabilities=sorted(self.handlers), max_concurrency=0 if self.draining else self.slots,
            version="python-example", labels={"language": "python"})

    def _heartbeat(self):
        return pb.HeartbeatRequest(worker_id=self.id, incarnation=self.incarnation, active_tasks=len(self.running))

    def _registered(self, answer, sent):
        self.lease_until = sent + answer.lease_sec * 0.9
        if answer.lease_id != self.lease_id:
            log.info("registered as %s (incarnation %s), %d slots", self.id, self.incarnation, self.slots)
            self.lease_id = answer.lease_id
            for stream in self.streams.values():
                stream.reopen()  # what it holds back was said to a registration that is gone
        nodes = {node.node_id: node.address for node in answer.schedulers}
        self.known = list(nodes.values()) or self.known
        for node, stream in list(self.streams.items()):
            if nodes.get(node) != stream.address:
                stream.close()
                del self.streams[node]
        for node, address in nodes.items():
            if node not in self.streams:
                self.streams[node] = Stream(self, node, address)

    async def _call(self, method, request):
        """Asks one node after the other; None: none could answer."""
        for address in list(self.known):
            try:
                async with grpc.aio.insecure_channel(address) as channel:
                    stub = worker_pb2_grpc.WorkflowServiceStub(channel)
                    return await getattr(stub, method)(request, timeout=CALL_SECONDS)
            except grpc.aio.AioRpcError as e:
                if e.code() == grpc.StatusCode.INVALID_ARGUMENT:
                    raise Refused(e.details()) from e
                log.warning("%s at %s: %s", method, address, e.details())
        return None

    # What the schedulers say.

    def received(self, stream, message):
        if message.HasField("ping"):
            stream.say(pong=pb.Pong(nonce=message.ping.nonce))
        if message.HasField("pong"):
            stream.unanswered = 0
        if not self._obeys(stream, message):
            return
        self.generation = message.generation
        if message.term > self.term:
            self.term, self.leader = message.term, stream.node
            log.info("scheduler %s leads, term %d", self.leader, self.term)
        if message.HasField("term_started") or message.HasField("inventory_request"):
            stream.greeted_in, self.inventory_due = self.term, True
        for ack in message.acks:  # first: they free the slots that the assignments beside them need
            self._acknowledged(attempt(ack.attempt))
        for assignment in message.assignments:
            self._assigned(stream, assignment)
        for cancel in message.cancels:
            self._cancelled(attempt(cancel.attempt))
        if message.HasField("drain"):
            self.drain()
        self._flush()

    def _obeys(self, stream, message):
        return (
            message.term > 0
            and message.incarnation == self.incarnation
            and message.generation != 0
            and message.generation == (self.generation or message.generation)
            and (message.term > self.term or (message.term == self.term and stream.node == self.leader)))

    def _acknowledged(self, key):
        if self.outbox.pop(key, None) is not None:
            self.unsent["results"].pop(key, None)
        if self.returned.pop(key, None) is not None:
            self.unsent["returned"].pop(key, None)
            self._remember(key)
        self.changed.set()

    def _assigned(self, stream, assignment):
        key = (assignment.workflow_id, assignment.task_id, assignment.attempt)
        if key in self.running or key in self.outbox or key in self.lingering:
            return
        if key in self.returned:
            self.unsent["returned"][key] = name(key)
        elif key in self.never:
            self.unsent["cancelled_unknown"][key] = name(key)
        elif time.monotonic() >= self.lease_until or stream.lease_id != self.lease_id:
            pass  # it may run elsewhere already; if not, the next inventory brings it again
        elif self.draining or self._used() >= self.slots:
            self.returned[key] = self.unsent["returned"][key] = name(key)
        else:
            task = self.running[key] = Task(assignment)
            asyncio.create_task(self._attempt(key, task, assignment.timeout_ms / 1000))

    def _cancelled(self, key):
        if key in self.running:
            self.running[key].cancelled = True
            self.running[key].stop.set()
            self.changed.set()
        elif key not in self.outbox and key not in self.lingering:
            self._remember(key)
            self.unsent["cancelled_unknown"][key] = name(key)

    def _remember(self, key):
        self.never[key] = True
        if len(self.never) > NEVER_KEPT:
            del self.never[next(iter(self.never))]

    def _used(self):
        return len(self.running) + len(self.outbox) + len(self.lingering - self.outbox.keys())

    # What it says to the leader.

    def _flush(self):
        stream = self.streams.get(self.leader)
        if stream is None or stream.outgoing is None or stream.greeted_in != self.term:
            return
        if self.inventory_due:
            self.inventory_due = False
            stream.say(inventory=pb.Inventory(
                running=map(name, self.running),
                results=map(name, self.outbox),
                returned=self.returned.values(),
                lingering=map(name, self.lingering - self.outbox.keys()),
                free_slots=0 if self.draining else max(0, self.slots - self._used())))
            self.unsent["results"].update(self.outbox)
            self.unsent["returned"].update(self.returned)
        for field, unsent in self.unsent.items():
            part, size = [], 0
            for each in unsent.values():
                if size + each.ByteSize() > MESSAGE_BYTES and part:
                    stream.say(**{field: part})
                    part, size = [], 0
                part.append(each)
                size += each.ByteSize()
            if part:
                stream.say(**{field: part})
            unsent.clear()

    async def _tick(self):
        while True:
            await asyncio.sleep(1)
            for stream in self.streams.values():
                if stream.unanswered >= UNANSWERED_PINGS:
                    stream.reopen()
                stream.unanswered += 1
                stream.say(ping=pb.Ping(nonce=1))

    # Attempts.

    async def _attempt(self, key, task, timeout):
        started = time.monotonic()
        work = asyncio.get_running_loop().run_in_executor(self.pool, self._handle, task)
        stopped = asyncio.create_task(self._until(task.stop.is_set))
        await asyncio.wait({work, stopped}, timeout=timeout or None, return_when=asyncio.FIRST_COMPLETED)
        timed_out = not work.done() and not task.stop.is_set()
        stopped.cancel()
        if not work.done():
            task.stop.set()
            await asyncio.wait({work}, timeout=GRACE_SECONDS)
        if work.done():
            fields = work.result()
        else:
            fields = {"status": pb.TaskResult.FAILED, "error_message": "The handler has not returned."}
            self.lingering.add(key)
            work.add_done_callback(lambda _: self._handler_returned(key))
        if timed_out:
            fields = {"status": pb.TaskResult.TIMEOUT, "error_message": f"It ran longer than {timeout} s."}
        elif getattr(task, "cancelled", False) and fields["status"] != pb.TaskResult.SUCCESS:
            fields = {"status": pb.TaskResult.CANCELLED}
        run_id, task_id, number = key
        result = pb.TaskResult(run_id=run_id, task_id=task_id, attempt=number,
                               duration_ms=int((time.monotonic() - started) * 1000), **fields)
        del self.running[key]
        self.outbox[key] = self.unsent["results"][key] = result
        self.changed.set()
        self._flush()

    def _handler_returned(self, key):
        self.lingering.discard(key)
        self.inventory_due |= key not in self.outbox  # else nobody hears that the slot is free
        self._flush()

    def _handle(self, task):
        """On a thread of the pool."""
        try:
            handler = self.handlers.get(task.type)
            if handler is None:
                raise TaskFailed(f"This worker has no handler for '{task.type}'.")
            output = json.dumps(handler(task), ensure_ascii=False)
            if len(output.encode()) <= OUTPUT_BYTES:
                return {"status": pb.TaskResult.SUCCESS, "output_json": output}
            error, final = f"The output has {len(output.encode())} bytes; {OUTPUT_BYTES} are the limit.", True
        except FatalTaskFailed as e:
            error, final = str(e), True
        except TaskFailed as e:
            error, final = str(e), False
        except Exception as e:  # a fault of the handler is a failure of the attempt, not of the worker
            log.exception("the handler of %s/%s failed", task.run_id, task.task_id)
            error, final = f"{type(e).__name__}: {e}", False
        text = error.encode()[:ERROR_BYTES].decode(errors="ignore")
        return {"status": pb.TaskResult.FAILED, "error_message": text, "final": final}


def attempt(of):
    return of.run_id, of.task_id, of.attempt


def name(key):
    run_id, task_id, number = key
    return pb.AttemptName(run_id=run_id, task_id=task_id, attempt=number)
