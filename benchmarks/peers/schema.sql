-- What the candidates other than ninefold keep: `benchmarks/peers.py` makes it and fills it, so that none has other rows.
create table customer (
  id      text primary key,
  name    text not null,
  api_key blob not null unique  -- its SHA-256 digest
) without rowid, strict;
create table "order" (
  id         text primary key,
  customer   text not null references customer,
  sku        text not null,
  quantity   integer not null,
  unit_price integer not null,
  note       text,
  status     text not null,
  created_at text not null,
  updated_at text not null
) strict;
create index newest on "order" (customer, created_at desc, id);
