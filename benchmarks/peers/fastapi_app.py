"""The orders on FastAPI, Pydantic and SQLAlchemy 2 with aiosqlite, as the pages of these libraries write it.

DATABASE=orders.db uvicorn fastapi_app:app
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field, computed_field
from sqlalchemy import ForeignKey, event, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

engine = create_async_engine(f"sqlite+aiosqlite:///{os.environ['DATABASE']}", pool_size=32)
sessions = async_sessionmaker(engine, expire_on_commit=False)


@event.listens_for(engine.sync_engine, "connect")
def _pragmas(connection: object, _record: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]
    cursor.execute("pragma journal_mode = wal")
    cursor.execute("pragma synchronous = full")
    cursor.execute("pragma busy_timeout = 30000")
    cursor.execute("pragma foreign_keys = on")
    cursor.close()


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "customer"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    api_key: Mapped[bytes] = mapped_column(unique=True)


class Order(Base):
    __tablename__ = "order"
    id: Mapped[str] = mapped_column(primary_key=True)
    customer: Mapped[str] = mapped_column(ForeignKey("customer.id"))
    sku: Mapped[str]
    quantity: Mapped[int]
    unit_price: Mapped[int]
    note: Mapped[str | None]
    status: Mapped[str]
    created_at: Mapped[str]
    updated_at: Mapped[str]


class Placed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    sku: str = Field(pattern="^[A-Z0-9-]{3,20}$")
    quantity: int = Field(ge=1, le=1000)
    unit_price: int = Field(ge=0, le=100_000_000)
    note: str | None = Field(default=None, max_length=500)


class Shown(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: str
    customer: str
    sku: str
    quantity: int
    unit_price: int
    note: str | None
    status: str
    created_at: str
    updated_at: str

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total(self) -> int:
        return self.quantity * self.unit_price


class Page(BaseModel):
    data: list[Shown]
    next: str | None


async def session() -> AsyncIterator[AsyncSession]:
    async with sessions() as opened:
        yield opened


Session = Annotated[AsyncSession, Depends(session)]
Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]


async def caller(bearer: Bearer, database: Session) -> Customer:
    if bearer is not None:
        digest = hashlib.sha256(bearer.credentials.encode()).digest()
        found = await database.scalar(select(Customer).where(Customer.api_key == digest))
        if found is not None:
            return found
    raise HTTPException(401, "Unauthorized", {"WWW-Authenticate": "Bearer"})


Caller = Annotated[Customer, Depends(caller)]
app = FastAPI()


@app.exception_handler(HTTPException)
async def problem(_request: Request, error: HTTPException) -> JSONResponse:
    body = {"type": "about:blank", "title": error.detail, "status": error.status_code}
    return JSONResponse(body, error.status_code, error.headers, "application/problem+json")


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@app.post("/orders", status_code=201)
async def create(placed: Placed, customer: Caller, database: Session, response: Response) -> Shown:
    at = now()
    made = Order(
        id=str(uuid.uuid4()), customer=customer.id, status="open", created_at=at, updated_at=at, **placed.model_dump()
    )
    database.add(made)
    await database.commit()
    response.headers["Location"] = f"/orders/{made.id}"
    return Shown.model_validate(made)


@app.get("/orders")
async def orders(
    customer: Caller,
    database: Session,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    cursor: str | None = None,
) -> Page:
    wanted = select(Order).where(Order.customer == customer.id)
    if cursor is not None:
        at, _, last = cursor.partition("_")
        wanted = wanted.where(tuple_(Order.created_at, Order.id) < (at, last))
    found = (await database.scalars(wanted.order_by(Order.created_at.desc(), Order.id).limit(limit + 1))).all()
    shown = [Shown.model_validate(each) for each in found[:limit]]
    following = f"{shown[-1].created_at}_{shown[-1].id}" if len(found) > limit else None
    return Page(data=shown, next=following)


async def own(id: uuid.UUID, customer: Customer, database: AsyncSession) -> Order:
    found = await database.scalar(select(Order).where(Order.id == str(id), Order.customer == customer.id))
    if found is None:
        raise HTTPException(404, "Not Found")
    return found


@app.get("/orders/{id}")
async def order(id: uuid.UUID, customer: Caller, database: Session) -> Shown:
    return Shown.model_validate(await own(id, customer, database))


@app.post("/orders/{id}/hold")
async def hold(id: uuid.UUID, customer: Caller, database: Session) -> Shown:
    found = await own(id, customer, database)
    if found.status not in ("open", "held"):
        raise HTTPException(409, "Conflict")
    found.status, found.updated_at = "held", now()
    await database.commit()
    return Shown.model_validate(found)
