"""Counts words: a worker for the task types text_process, operation word_count, and sleep."""

import argparse
import asyncio
import logging
import re
import sys
from collections import Counter

from baton_worker import FatalTaskFailed, Refused, TaskFailed, Worker


def text_process(task):
    """{operation: word_count, text, limit: 10} -> {words, lines, characters, top: [{word, count}]}"""
    operation, text, limit = task.params.get("operation"), task.params.get("text"), task.params.get("limit", 10)
    if operation != "word_count":
        raise FatalTaskFailed(f"Expected 'operation' to be word_count, but got '{operation}'.")
    if not isinstance(text, str) or not isinstance(limit, int):
        raise FatalTaskFailed("Expected 'text' to be a text and 'limit' a whole number.")
    words = Counter(re.findall(r"\w+", text.lower()))
    top = sorted(words.items(), key=lambda entry: (-entry[1], entry[0]))[:limit]
    return {
        "words": words.total(),
        "lines": len(text.splitlines()),
        "characters": len(text),
        "top": [{"word": word, "count": count} for word, count in top],
    }


def sleep(task):
    """{ms} -> {sleptMs}"""
    milliseconds = task.params.get("ms")
    if not isinstance(milliseconds, int) or milliseconds < 0:
        raise FatalTaskFailed(f"Expected 'ms' to be a whole number, 0 or more, but got {milliseconds!r}.")
    if task.stop.wait(milliseconds / 1000):
        raise TaskFailed("It was told to stop.")
    return {"sleptMs": milliseconds}


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--scheduler", required=True, help="host:port of scheduler nodes, with commas between")
    arguments.add_argument("--id", default="python-1", help="the worker's id (python-1)")
    arguments.add_argument("--slots", type=int, default=4, help="tasks that it runs at once (4)")
    given = arguments.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")

    async def run():
        handlers = {"text_process": text_process, "sleep": sleep}
        await Worker(given.id, given.scheduler.split(","), handlers, given.slots).run()

    try:
        asyncio.run(run())
    except Refused as e:
        sys.exit(f"text_worker: {e}")


if __name__ == "__main__":
    main()
