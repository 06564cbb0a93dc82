// The orders on Fastify and better-sqlite3: schemas validate and serialise, statements are prepared once.
//
//     DATABASE=orders.db PORT=8080 node server.js

import { createHash, randomUUID } from "node:crypto";
import Database from "better-sqlite3";
import Fastify from "fastify";

const database = new Database(process.env.DATABASE);
database.pragma("journal_mode = wal");
database.pragma("synchronous = full");
database.pragma("foreign_keys = on");

const SHOWN = "id, customer, sku, quantity, unit_price, note, status, created_at, updated_at";
const TOTAL = `${SHOWN}, quantity * unit_price as total`;
const calling = database.prepare("select id from customer where api_key = ?").pluck();
const reading = database.prepare(`select ${TOTAL} from "order" where id = ? and customer = ?`);
const listing = database.prepare(
  `select ${TOTAL} from "order" where customer = ? order by created_at desc, id limit ?`);
const listingBehind = database.prepare(
  `select ${TOTAL} from "order" where customer = ? and (created_at < ? or created_at = ? and id > ?)
   order by created_at desc, id limit ?`);
const creating = database.prepare(
  `insert into "order" (${SHOWN}) values (?, ?, ?, ?, ?, ?, 'open', ?, ?) returning ${TOTAL}`);
const holding = database.prepare(
  `update "order" set status = 'held', updated_at = ?
   where id = ? and customer = ? and status in ('open', 'held') returning ${TOTAL}`);

const text = { type: "string" };
const order = {
  type: "object",
  properties: {
    id: text, customer: text, sku: text, quantity: { type: "integer" }, unit_price: { type: "integer" },
    note: { type: ["string", "null"] }, status: text, total: { type: "integer" }, created_at: text, updated_at: text,
  },
};
const placed = {
  type: "object",
  properties: {
    sku: { type: "string", pattern: "^[A-Z0-9-]{3,20}$" },
    quantity: { type: "integer", minimum: 1, maximum: 1000 },
    unit_price: { type: "integer", minimum: 0, maximum: 100000000 },
    note: { type: ["string", "null"], maxLength: 500 },
  },
  required: ["sku", "quantity", "unit_price"],
  additionalProperties: false,
};
const named = { type: "object", properties: { id: { type: "string", format: "uuid" } } };
const asked = {
  type: "object",
  properties: { limit: { type: "integer", minimum: 1, maximum: 100, default: 20 }, cursor: text },
  additionalProperties: false,
};

const app = Fastify({ ajv: { customOptions: { removeAdditional: false } } });

class Problem extends Error {
  constructor(status, title) {
    super(title);
    this.statusCode = status;
  }
}

app.setErrorHandler((error, _request, reply) => {
  const status = error.validation ? 422 : error.statusCode ?? 500;
  if (status === 401) reply.header("WWW-Authenticate", "Bearer");
  reply.code(status).type("application/problem+json").send({ type: "about:blank", title: error.message, status });
});

app.decorateRequest("customer", null);
app.addHook("onRequest", async (request) => {
  const [kind, token] = (request.headers.authorization ?? "").split(" ");
  const digest = createHash("sha256").update(token ?? "").digest();
  request.customer = kind.toLowerCase() === "bearer" ? calling.get(digest) : undefined;
  if (request.customer === undefined) throw new Problem(401, "Unauthorized");
});

app.post("/orders", { schema: { body: placed, response: { 201: order } } }, async (request, reply) => {
  const { sku, quantity, unit_price, note = null } = request.body;
  const at = new Date().toISOString();
  const made = creating.get(randomUUID(), request.customer, sku, quantity, unit_price, note, at, at);
  reply.code(201).header("Location", `/orders/${made.id}`);
  return made;
});

const page = { type: "object", properties: { data: { type: "array", items: order }, next: { type: ["string", "null"] } } };
app.get("/orders", { schema: { querystring: asked, response: { 200: page } } }, async (request) => {
  const { limit, cursor } = request.query;
  let found;
  if (cursor === undefined) found = listing.all(request.customer, limit + 1);
  else {
    const [at, last] = cursor.split("_");
    found = listingBehind.all(request.customer, at, at, last, limit + 1);
  }
  const data = found.slice(0, limit);
  const last = data[data.length - 1];
  return { data, next: found.length > limit ? `${last.created_at}_${last.id}` : null };
});

app.get("/orders/:id", { schema: { params: named, response: { 200: order } } }, async (request) => {
  const found = reading.get(request.params.id, request.customer);
  if (found === undefined) throw new Problem(404, "Not Found");
  return found;
});

app.post("/orders/:id/hold", { schema: { params: named, response: { 200: order } } }, async (request) => {
  const found = holding.get(new Date().toISOString(), request.params.id, request.customer);
  if (found !== undefined) return found;
  const there = reading.get(request.params.id, request.customer);
  throw there === undefined ? new Problem(404, "Not Found") : new Problem(409, "Conflict");
});

await app.listen({ host: "127.0.0.1", port: Number(process.env.PORT) });
