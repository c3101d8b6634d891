"""Durable steps a second of LangGraph with its SQLite checkpointer: a graph of one node that adds 200 bytes of new data per step."""

import json
import os
import sqlite3
import sys
import time
from typing import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

STEPS_ALONE = 500
RUNS, STEPS_EACH = 50, 20
TEXT = "x" * 200


class State(TypedDict):
    turn: int
    turns: int
    text: str


def turning(state):
    return {"turn": state["turn"] + 1, "text": TEXT}


def graph(path):
    builder = StateGraph(State)
    builder.add_node("turning", turning)
    builder.add_edge(START, "turning")
    builder.add_conditional_edges("turning", lambda state: END if state["turn"] >= state["turns"] else "turning")
    connection = sqlite3.connect(path, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return builder.compile(checkpointer=SqliteSaver(connection))


def run(compiled, thread, turns):
    config = {"configurable": {"thread_id": thread}, "recursion_limit": turns + 10}
    compiled.invoke({"turn": 0, "turns": turns, "text": ""}, config, durability="sync")


def size(path):
    return sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))


def main():
    path = os.path.join(sys.argv[1], "langgraph.sqlite")
    compiled = graph(path)
    run(compiled, "warm", 10)
    before, begun = size(path), time.perf_counter()
    run(compiled, "alone", STEPS_ALONE)
    alone = STEPS_ALONE / (time.perf_counter() - begun)
    bytes_per_step = (size(path) - before) / STEPS_ALONE
    begun = time.perf_counter()
    for number in range(RUNS):
        run(compiled, f"many-{number}", STEPS_EACH)
    many = RUNS * STEPS_EACH / (time.perf_counter() - begun)
    print(json.dumps({"alone": alone, "many": many, "bytes": bytes_per_step}))


main()
