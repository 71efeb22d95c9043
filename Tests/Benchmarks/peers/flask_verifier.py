"""The reference for Watchword's service: TOTP over HTTP with Flask, SQLAlchemy and pyotp.

It provides the same guarantees, built as such services usually are: a decision is durable before it is
answered (WAL, synchronous=FULL), each code is accepted once even under concurrency (the write lock is taken
before the row is read), five failures in a row make the subject wait, and each attempt records an event. It
stores seeds unencrypted and does not chain events, which is less work than Watchword does.

    flask_verifier.py DATABASE COUNT     creates the database with COUNT subjects (see Population.swift)
    WATCHWORD_PEER_DATABASE=… gunicorn flask_verifier:application
"""
import base64
import hashlib
import hmac
import os
import secrets
import sys
import time

import pyotp
from flask import Flask, jsonify, request
from sqlalchemy import (Column, Float, Index, Integer, MetaData, String, Table, create_engine,
                        event, insert, select, update)

PERIOD = 30
FREE_FAILURES = 5
TOKEN = "bench"
TOKEN_DIGEST = hashlib.sha256(TOKEN.encode()).digest()

metadata = MetaData()
credentials = Table(
    "credentials", metadata, Column("id", String, primary_key=True), Column("subject", String, nullable=False),
    Column("seed", String, nullable=False), Column("step", Integer, nullable=False),
    Column("failures", Integer, nullable=False), Column("waits_until", Float, nullable=False),
    Index("by_subject", "subject"))
events = Table(
    "events", metadata, Column("id", Integer, primary_key=True), Column("time", Float, nullable=False),
    Column("subject", String, nullable=False), Column("credential", String),
    Column("verification", String, nullable=False), Column("kind", String, nullable=False),
    Column("address", String))

find = select(credentials)
advance = update(credentials)


def connect(path):
    engine = create_engine(f"sqlite:///{path}", pool_size=20, connect_args={"timeout": 30})

    @event.listens_for(engine, "connect")
    def prepare(connection, _):
        # As SQLAlchemy's manual recommends, the event below begins transactions instead of Python's module.
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")

    @event.listens_for(engine, "begin")
    def begin(connection):
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


application = Flask(__name__)
engine = connect(os.environ["WATCHWORD_PEER_DATABASE"]) if "WATCHWORD_PEER_DATABASE" in os.environ else None


def is_allowed():
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return hmac.compare_digest(hashlib.sha256(token.encode()).digest(), TOKEN_DIGEST)


@application.post("/v1/verifications")
def verify():
    if not is_allowed():
        return jsonify(title="unauthorized"), 401
    body = request.get_json()
    subject, code = str(body["subject"]), str(body["code"])
    verification = "vf_" + secrets.token_hex(16)
    now = time.time()
    with engine.begin() as connection:
        row = connection.execute(find.where(credentials.c.subject == subject)).first()
        result, credential = "unknown", None
        if row is not None:
            credential = row.id
            result = decide(connection, row, code, now)
        connection.execute(insert(events).values(
            time=now, subject=subject, credential=credential, verification=verification, kind=result,
            address=request.remote_addr))
    if result == "accepted":
        return jsonify(verification=verification, result="accepted", credential=credential, type="totp")
    return jsonify(verification=verification, result="denied")


def decide(connection, row, code, now):
    if now < row.waits_until:
        return "throttled"
    totp = pyotp.TOTP(row.seed)
    step = int(now) // PERIOD
    found = [at for at in (step - 1, step, step + 1) if hmac.compare_digest(totp.generate_otp(at), code)]
    mine = advance.where(credentials.c.id == row.id)
    if not found:
        failures = row.failures + 1
        waits_until = now + 30 * 2 ** (failures - FREE_FAILURES) if failures >= FREE_FAILURES else 0
        connection.execute(mine.values(failures=failures, waits_until=waits_until))
        return "wrong"
    if found[-1] <= row.step:
        return "replayed"
    connection.execute(mine.values(step=found[-1], failures=0, waits_until=0))
    return "accepted"


def make(path, count):
    made = connect(path)
    metadata.create_all(made)
    rows = []
    for number in range(count):
        seed = base64.b32encode(f"key of credential {number + 1_000_000_000}".encode()).decode().rstrip("=")
        rows.append({"id": "cr_" + secrets.token_hex(16), "subject": f"subject-{number}", "seed": seed,
                     "step": 0, "failures": 0, "waits_until": 0})
    with made.begin() as connection:
        connection.execute(insert(credentials), rows)


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]))
