"""The row read of bench/feature in FastAPI: no key, no log, no metrics, so nothing slows it down."""

import os

import asyncpg
from fastapi import FastAPI, HTTPException

ORGANIZATION_ID = os.environ["ORGANIZATION_ID"]
QUERY = """
    select id, organization_id, domain, external_id, description, active, verified_at, max_quota,
        max_users, dkim_enabled, dkim_selector, created_at, updated_at
    from domains where id = $1 and organization_id = $2"""

app = FastAPI()


@app.on_event("startup")
async def connect():
    # As many connections as Mailplane has; where they lead, the PG* variables say.
    app.state.pool = await asyncpg.create_pool(min_size=10, max_size=10)


@app.get("/domains/{domain_id}")
async def get_domain(domain_id: str):
    row = await app.state.pool.fetchrow(QUERY, domain_id, ORGANIZATION_ID)
    if row is None:
        raise HTTPException(404)
    return {"type": "success", "msg": "Domain retrieved", "data": dict(row)}
