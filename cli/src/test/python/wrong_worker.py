"""Workers that break one rule each: what 'baton conformance' must notice. Usage: wrong_worker.py MODE SCHEDULERS ID"""

import asyncio
import sys

from baton_worker import Worker
from text_worker import sleep


class Forgetful(Worker):
    """Takes a result that was sent for one that has arrived."""

    def _flush(self):
        super()._flush()
        self.outbox.clear()
        self.changed.set()


class Credulous(Worker):
    """Obeys whoever speaks."""

    def _obeys(self, stream, message):
        if message.term > 0:
            self.leader = stream.node
        return message.term > 0


class Greedy(Worker):
    """Takes more than it has slots for."""

    def _used(self):
        return 0


async def run(mode, schedulers, worker_id):
    kinds = {"forgetful": Forgetful, "credulous": Credulous, "greedy": Greedy}
    await kinds[mode](worker_id, schedulers.split(","), {"sleep": sleep}).run()


asyncio.run(run(*sys.argv[1:]))
