-- Endpoints that are told of events, and the events on their way to them.
--
-- A change of a memory writes its events itself, by triggers: nobody who changes memories has to think of
-- it, and event and change are one transaction. Without subscriptions a trigger looks at an empty table.

CREATE TABLE webhooks (
  key             INTEGER PRIMARY KEY,
  id              TEXT    NOT NULL UNIQUE,
  url             TEXT    NOT NULL,
  secret          TEXT    NOT NULL,
  events          TEXT    NOT NULL,            -- one a line; empty for all
  project         TEXT    NOT NULL,            -- empty for all
  description     TEXT    NOT NULL,
  include_content INTEGER NOT NULL CHECK (include_content IN (0, 1)),
  enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  disabled_reason TEXT    NOT NULL,
  configured      INTEGER NOT NULL CHECK (configured IN (0, 1)),
  created_at      INTEGER NOT NULL,
  failures        INTEGER NOT NULL DEFAULT 0,  -- since the last success
  open_until      INTEGER NOT NULL DEFAULT 0,  -- nothing is sent before
  pending         INTEGER NOT NULL DEFAULT 0,  -- counts of its deliveries by state, kept by triggers
  delivered       INTEGER NOT NULL DEFAULT 0,
  dead            INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Which events are written for whom: those of the enabled endpoints while webhooks are on.
CREATE TABLE webhook_subscriptions (
  event   TEXT    NOT NULL,
  project TEXT    NOT NULL,
  webhook INTEGER NOT NULL REFERENCES webhooks (key) ON DELETE CASCADE,
  PRIMARY KEY (event, project, webhook)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_subscriptions_by_webhook ON webhook_subscriptions (webhook);

-- How many deliveries may wait for one endpoint, and how many found no place; exactly one row.
CREATE TABLE webhook_queue (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  size       INTEGER NOT NULL,
  overflowed INTEGER NOT NULL
) STRICT;
INSERT INTO webhook_queue (id, size, overflowed) VALUES (1, 1000, 0);

-- `state` is 1 while it waits or is under way, 2 when it was delivered, 3 when it was given up. `data` is a JSON
-- object without any text of a memory. `due_at` is 0 for at once; with a `lease_id` it is the end of the lease.
-- `once` marks a test: it is tried once and before all others. Event and delivery keep their ids.
CREATE TABLE webhook_deliveries (
  key         INTEGER PRIMARY KEY AUTOINCREMENT,
  id          TEXT    NOT NULL UNIQUE,
  webhook     INTEGER NOT NULL REFERENCES webhooks (key) ON DELETE CASCADE,
  event_id    TEXT    NOT NULL,
  event       TEXT    NOT NULL,
  memory_id   TEXT    NOT NULL,
  project     TEXT    NOT NULL,
  occurred_at INTEGER NOT NULL,
  data        TEXT    NOT NULL,
  state       INTEGER NOT NULL CHECK (state BETWEEN 1 AND 3),
  once        INTEGER NOT NULL DEFAULT 0 CHECK (once IN (0, 1)),
  tries       INTEGER NOT NULL DEFAULT 0,
  due_at      INTEGER NOT NULL DEFAULT 0,
  lease_id    TEXT,
  finished_at INTEGER NOT NULL DEFAULT 0,
  last_status INTEGER NOT NULL DEFAULT 0,
  last_error  TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at) WHERE state = 1;
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (webhook, memory_id, key) WHERE state = 1;
CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (webhook, state, key);

-- Counts, and the oldest that are too many of what was delivered (1,000) or given up (10,000).
CREATE TRIGGER webhook_deliveries_counted AFTER INSERT ON webhook_deliveries BEGIN
  UPDATE webhooks SET pending = pending + (new.state = 1), dead = dead + (new.state = 3)
  WHERE key = new.webhook;
  DELETE FROM webhook_deliveries WHERE new.state = 3
  AND (SELECT dead FROM webhooks WHERE key = new.webhook) > 10000
  AND key = (SELECT min(key) FROM webhook_deliveries WHERE webhook = new.webhook AND state = 3);
END;

CREATE TRIGGER webhook_deliveries_uncounted AFTER DELETE ON webhook_deliveries BEGIN
  UPDATE webhooks SET
    pending = pending - (old.state = 1), delivered = delivered - (old.state = 2), dead = dead - (old.state = 3)
  WHERE key = old.webhook;
END;

CREATE TRIGGER webhook_deliveries_recounted AFTER UPDATE OF state ON webhook_deliveries
WHEN new.state <> old.state BEGIN
  UPDATE webhooks SET
    pending = pending + (new.state = 1) - (old.state = 1),
    delivered = delivered + (new.state = 2) - (old.state = 2),
    dead = dead + (new.state = 3) - (old.state = 3)
  WHERE key = new.webhook;
  DELETE FROM webhook_deliveries WHERE new.state = 2
  AND (SELECT delivered FROM webhooks WHERE key = new.webhook) > 1000
  AND key = (SELECT min(key) FROM webhook_deliveries WHERE webhook = new.webhook AND state = 2);
  DELETE FROM webhook_deliveries WHERE new.state = 3
  AND (SELECT dead FROM webhooks WHERE key = new.webhook) > 10000
  AND key = (SELECT min(key) FROM webhook_deliveries WHERE webhook = new.webhook AND state = 3);
END;

-- What is inserted here becomes one delivery for each endpoint that wants it; `hex` are 32 random digits, of
-- which the event's id is made (version 4 by RFC 9562, section 5.4).
CREATE VIEW webhook_outbox AS
SELECT '' AS hex, '' AS event, '' AS memory_id, '' AS project, '' AS data WHERE 0;

CREATE TRIGGER webhook_outbox_filled INSTEAD OF INSERT ON webhook_outbox BEGIN
  INSERT INTO webhook_deliveries (
    id, webhook, event_id, event, memory_id, project, occurred_at, data, state, finished_at, last_error
  )
  SELECT
    substr(f.hex, 1, 8) || '-' || substr(f.hex, 9, 4) || '-4' || substr(f.hex, 14, 3) || '-a'
    || substr(f.hex, 18, 3) || '-' || substr(f.hex, 21, 12),
    f.webhook,
    substr(new.hex, 1, 8) || '-' || substr(new.hex, 9, 4) || '-4' || substr(new.hex, 14, 3) || '-a'
    || substr(new.hex, 18, 3) || '-' || substr(new.hex, 21, 12),
    new.event, new.memory_id, new.project, f.now, new.data,
    iif(f.fits, 1, 3), iif(f.fits, 0, f.now), iif(f.fits, '', 'The queue of the endpoint was full.')
  FROM (
    SELECT
      s.webhook, w.pending < q.size AS fits, lower(hex(randomblob(16))) AS hex,
      CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) * 1000 AS now
    FROM webhook_subscriptions s JOIN webhooks w ON w.key = s.webhook JOIN webhook_queue q
    WHERE s.event = new.event AND s.project IN ('', new.project) LIMIT -1 OFFSET 0
  ) f;
END;

CREATE TRIGGER webhook_queue_overflowed AFTER INSERT ON webhook_deliveries WHEN new.state = 3 BEGIN
  UPDATE webhook_queue SET overflowed = overflowed + 1;
END;

-- What an event says of a memory. The names of types and states are those of the contract.
CREATE VIEW webhook_memories AS
SELECT key, id, project, json_object(
  'wing', wing, 'room', room,
  'type', CASE type WHEN 1 THEN 'decision' WHEN 2 THEN 'fact' WHEN 3 THEN 'preference'
          WHEN 4 THEN 'session_note' ELSE 'debug_log' END,
  'state', iif(state = 1, 'active', 'archived'),
  'version', version, 'revision', revision, 'session_id', session_id, 'fact_count', fact_count,
  'token_count', verbatim_tokens, 'passage_count', passage_count
) AS data FROM memories;

CREATE TRIGGER webhook_memory_stored AFTER INSERT ON memories
WHEN EXISTS (
  SELECT 1 FROM webhook_subscriptions
  WHERE event IN ('store.completed', 'embedding.completed', 'embedding.failed') AND project IN ('', new.project))
BEGIN
  INSERT INTO webhook_outbox (hex, event, memory_id, project, data)
  SELECT lower(hex(randomblob(16))), 'store.completed', id, project, data
  FROM webhook_memories WHERE key = new.key;
  INSERT INTO webhook_outbox (hex, event, memory_id, project, data)
  SELECT
    lower(hex(randomblob(16))), iif(new.passage_count > 0, 'embedding.completed', 'embedding.failed'),
    id, project, data
  FROM webhook_memories WHERE key = new.key;
END;

CREATE TRIGGER webhook_memory_updated AFTER UPDATE OF version ON memories
WHEN new.version <> old.version AND EXISTS (
  SELECT 1 FROM webhook_subscriptions
  WHERE event IN ('memory.updated', 'embedding.failed') AND project IN ('', new.project))
BEGIN
  INSERT INTO webhook_outbox (hex, event, memory_id, project, data)
  SELECT lower(hex(randomblob(16))), 'memory.updated', id, project, data
  FROM webhook_memories WHERE key = new.key;
  INSERT INTO webhook_outbox (hex, event, memory_id, project, data)
  SELECT lower(hex(randomblob(16))), 'embedding.failed', id, project, data
  FROM webhook_memories WHERE key = new.key AND new.passage_count = 0
  AND (old.passage_count > 0 OR new.content_hash <> old.content_hash);
END;

-- Vectors that came later. Those of a new text come with an update, which knows whether they are new.
CREATE TRIGGER webhook_embedding_came AFTER UPDATE OF passage_count ON memories
WHEN new.passage_count > 0 AND old.passage_count = 0 AND new.version = old.version AND EXISTS (
  SELECT 1 FROM webhook_subscriptions WHERE event = 'embedding.completed' AND project IN ('', new.project))
BEGIN
  INSERT INTO webhook_outbox (hex, event, memory_id, project, data)
  SELECT lower(hex(randomblob(16))), 'embedding.completed', id, project, data
  FROM webhook_memories WHERE key = new.key;
END;

CREATE TRIGGER webhook_memory_archived AFTER UPDATE OF state ON memories
WHEN new.state = 2 AND old.state = 1 AND EXISTS (
  SELECT 1 FROM webhook_subscriptions WHERE event = 'memory.archived' AND project IN ('', new.project))
BEGIN
  INSERT INTO webhook_outbox (hex, event, memory_id, project, data)
  SELECT lower(hex(randomblob(16))), 'memory.archived', id, project, data
  FROM webhook_memories WHERE key = new.key;
END;

CREATE TRIGGER webhook_memory_unarchived AFTER UPDATE OF state ON memories
WHEN new.state = 1 AND old.state = 2 AND EXISTS (
  SELECT 1 FROM webhook_subscriptions WHERE event = 'memory.unarchived' AND project IN ('', new.project))
BEGIN
  INSERT INTO webhook_outbox (hex, event, memory_id, project, data)
  SELECT lower(hex(randomblob(16))), 'memory.unarchived', id, project, data
  FROM webhook_memories WHERE key = new.key;
END;

CREATE TRIGGER webhook_memory_deleted BEFORE DELETE ON memories
WHEN EXISTS (SELECT 1 FROM webhook_subscriptions WHERE event = 'memory.deleted' AND project IN ('', old.project))
BEGIN
  INSERT INTO webhook_outbox (hex, event, memory_id, project, data)
  SELECT lower(hex(randomblob(16))), 'memory.deleted', id, project, data
  FROM webhook_memories WHERE key = old.key;
END;

-- A link that was found in the text of its effect.
CREATE TRIGGER webhook_causal_detected AFTER INSERT ON links
WHEN new.phrase <> '' AND EXISTS (SELECT 1 FROM webhook_subscriptions WHERE event = 'causal.detected')
BEGIN
  INSERT INTO webhook_outbox (hex, event, memory_id, project, data)
  SELECT lower(hex(randomblob(16))), 'causal.detected', e.id, e.project, json_object(
    'cause_id', c.id, 'effect_id', e.id,
    'relation', CASE new.relation WHEN 1 THEN 'because' WHEN 2 THEN 'triggered' WHEN 3 THEN 'updates'
                WHEN 4 THEN 'contradicts' ELSE 'resolves' END)
  FROM memories c JOIN memories e ON e.key = new.effect WHERE c.key = new.cause;
END;
