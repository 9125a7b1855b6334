-- Memories and everything that is kept with them.
--
-- Times are microseconds since 1970 in UTC. Enum columns hold the numbers of the domain's enums. A memory's
-- `key` is internal: it joins the tables and is never seen outside.

CREATE TABLE memories (
  key                INTEGER PRIMARY KEY,
  id                 TEXT    NOT NULL UNIQUE,
  project            TEXT    NOT NULL,
  wing               TEXT    NOT NULL,
  room               TEXT    NOT NULL,
  path               TEXT    NOT NULL DEFAULT '',
  path_key           TEXT,                        -- case-folded path; NULL for none
  type               INTEGER NOT NULL CHECK (type BETWEEN 1 AND 5),
  declared           INTEGER NOT NULL CHECK (declared IN (0, 1)),
  session_id         TEXT    NOT NULL DEFAULT '',
  session_order      INTEGER NOT NULL DEFAULT 0,
  occurred_at        INTEGER,
  created_at         INTEGER NOT NULL,
  updated_at         INTEGER NOT NULL,
  effective_at       INTEGER NOT NULL,            -- occurred_at, else created_at
  source             TEXT    NOT NULL DEFAULT '',
  sensitivity        INTEGER NOT NULL CHECK (sensitivity BETWEEN 1 AND 3),
  state              INTEGER NOT NULL CHECK (state BETWEEN 1 AND 2),
  version            INTEGER NOT NULL CHECK (version >= 1),
  revision           INTEGER NOT NULL,
  content_hash       BLOB    NOT NULL,            -- SHA-256 of the text as UTF-8
  verbatim_tokens    INTEGER NOT NULL,
  fingerprint_tokens INTEGER NOT NULL,
  header_tokens      INTEGER NOT NULL,
  fact_count         INTEGER NOT NULL,
  passage_count      INTEGER NOT NULL DEFAULT 0   -- 0 while the embedding is pending
) STRICT;

CREATE UNIQUE INDEX memories_by_revision ON memories (revision);
CREATE INDEX memories_by_time ON memories (project, created_at, id, state, wing, room, type);
CREATE INDEX memories_by_hash ON memories (content_hash);
CREATE UNIQUE INDEX memories_by_path ON memories (project, path_key) WHERE path_key IS NOT NULL;
CREATE INDEX memories_by_session ON memories (project, session_id, session_order, state)
  WHERE session_id <> '';
CREATE INDEX memories_pending ON memories (key) WHERE passage_count = 0;

-- What a memory says. `body` is the text exactly as it was stored. With `hidden` the text is a secret that
-- must not be found by its words. `tags` and `given_tags` hold one tag a line; `fingerprint`, `component` and
-- `metadata` are JSON.
CREATE TABLE documents (
  memory      INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
  title       TEXT    NOT NULL DEFAULT '',
  summary     TEXT    NOT NULL DEFAULT '',
  body        TEXT    NOT NULL,
  hidden      INTEGER NOT NULL CHECK (hidden IN (0, 1)),
  tags        TEXT    NOT NULL DEFAULT '',
  given_tags  TEXT    NOT NULL DEFAULT '',
  fingerprint TEXT    NOT NULL,
  component   TEXT    NOT NULL DEFAULT '',
  metadata    TEXT    NOT NULL DEFAULT ''
) STRICT;

-- The words that a memory is found by, as `satchel.store.words.index_text` writes them: one token between
-- spaces, identifiers whole and in parts. Kept because the full-text table needs the old words to forget a
-- row, and because exact words are looked for here.
CREATE TABLE words (
  memory  INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
  title   TEXT NOT NULL,
  tags    TEXT NOT NULL,
  summary TEXT NOT NULL,
  body    TEXT NOT NULL,
  fields  TEXT NOT NULL
) STRICT;

-- Stemmed words, ranked by BM25.
CREATE VIRTUAL TABLE stems USING fts5 (
  title, tags, summary, body, fields,
  content = 'words', content_rowid = 'memory', tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TRIGGER words_added AFTER INSERT ON words BEGIN
  INSERT INTO stems (rowid, title, tags, summary, body, fields)
  VALUES (new.memory, new.title, new.tags, new.summary, new.body, new.fields);
END;

CREATE TRIGGER words_removed AFTER DELETE ON words BEGIN
  INSERT INTO stems (stems, rowid, title, tags, summary, body, fields)
  VALUES ('delete', old.memory, old.title, old.tags, old.summary, old.body, old.fields);
END;

-- Tags as they are compared: folded by `satchel.store.words.fold`.
CREATE TABLE memory_tags (
  tag    TEXT    NOT NULL,
  memory INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
  PRIMARY KEY (tag, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_tags_by_memory ON memory_tags (memory);

-- The model of the stored vectors: one row, or none while there are no vectors.
CREATE TABLE models (
  sha256     TEXT    NOT NULL PRIMARY KEY,
  name       TEXT    NOT NULL,
  revision   TEXT    NOT NULL,
  dimension  INTEGER NOT NULL,
  max_tokens INTEGER NOT NULL
) STRICT;

-- Passages of a memory: `spans` packs little-endian int32 pairs (first code point, code point after the
-- last), `vectors` little-endian float32 rows of unit norm, one for each passage in order.
CREATE TABLE embeddings (
  memory  INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
  spans   BLOB NOT NULL,
  vectors BLOB NOT NULL
) STRICT;

CREATE TABLE links (
  cause    INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
  effect   INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
  relation INTEGER NOT NULL CHECK (relation BETWEEN 1 AND 5),
  PRIMARY KEY (cause, effect, relation)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_effect ON links (effect);

-- Links of imported memories whose other end has not come yet; they become links when it comes.
CREATE TABLE awaited_links (
  other_id TEXT    NOT NULL,
  memory   INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
  relation INTEGER NOT NULL CHECK (relation BETWEEN 1 AND 5),
  outgoing INTEGER NOT NULL CHECK (outgoing IN (0, 1)),
  PRIMARY KEY (other_id, memory, relation, outgoing)
) STRICT, WITHOUT ROWID;
CREATE INDEX awaited_links_by_memory ON awaited_links (memory);

-- Replaced versions, newest 20 of each memory; `snapshot` is JSON.
CREATE TABLE versions (
  memory      INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
  version     INTEGER NOT NULL,
  replaced_at INTEGER NOT NULL,
  snapshot    TEXT    NOT NULL,
  PRIMARY KEY (memory, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  project    TEXT    NOT NULL,
  session_id TEXT    NOT NULL,
  last_order INTEGER NOT NULL,
  PRIMARY KEY (project, session_id)
) STRICT, WITHOUT ROWID;

-- Deleted memories, for followers of the change feed. A row goes when its id comes back by an import.
CREATE TABLE tombstones (
  revision   INTEGER NOT NULL PRIMARY KEY,
  memory_id  TEXT    NOT NULL UNIQUE,
  project    TEXT    NOT NULL,
  deleted_at INTEGER NOT NULL
) STRICT;

-- Answers to requests that named a request id. `memory_id` is set when the answer holds a memory's text, so
-- that it can go with the memory.
CREATE TABLE requests (
  request_id TEXT    NOT NULL PRIMARY KEY,
  digest     BLOB    NOT NULL,
  answer     TEXT    NOT NULL,
  memory_id  TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_by_time ON requests (created_at);
CREATE INDEX requests_by_memory ON requests (memory_id) WHERE memory_id IS NOT NULL;

-- The newest revision; exactly one row.
CREATE TABLE head (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  revision INTEGER NOT NULL
) STRICT;
INSERT INTO head (id, revision) VALUES (1, 0);

-- Counts by place and kind, kept by triggers, so that the status reads no memory.
CREATE TABLE tallies (
  project  TEXT    NOT NULL,
  wing     TEXT    NOT NULL,
  type     INTEGER NOT NULL,
  state    INTEGER NOT NULL,
  memories INTEGER NOT NULL,
  tokens   INTEGER NOT NULL,
  passages INTEGER NOT NULL,
  pending  INTEGER NOT NULL,
  PRIMARY KEY (project, wing, type, state)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER memories_counted AFTER INSERT ON memories BEGIN
  INSERT INTO tallies (project, wing, type, state, memories, tokens, passages, pending)
  VALUES (new.project, new.wing, new.type, new.state, 1, new.verbatim_tokens, new.passage_count, new.passage_count = 0)
  ON CONFLICT DO UPDATE SET
    memories = memories + 1,
    tokens = tokens + excluded.tokens,
    passages = passages + excluded.passages,
    pending = pending + excluded.pending;
END;

CREATE TRIGGER memories_uncounted AFTER DELETE ON memories BEGIN
  UPDATE tallies SET
    memories = memories - 1,
    tokens = tokens - old.verbatim_tokens,
    passages = passages - old.passage_count,
    pending = pending - (old.passage_count = 0)
  WHERE project = old.project AND wing = old.wing AND type = old.type AND state = old.state;
END;

CREATE TRIGGER memories_recounted
AFTER UPDATE OF project, wing, type, state, verbatim_tokens, passage_count ON memories BEGIN
  UPDATE tallies SET
    memories = memories - 1,
    tokens = tokens - old.verbatim_tokens,
    passages = passages - old.passage_count,
    pending = pending - (old.passage_count = 0)
  WHERE project = old.project AND wing = old.wing AND type = old.type AND state = old.state;
  INSERT INTO tallies (project, wing, type, state, memories, tokens, passages, pending)
  VALUES (new.project, new.wing, new.type, new.state, 1, new.verbatim_tokens, new.passage_count, new.passage_count = 0)
  ON CONFLICT DO UPDATE SET
    memories = memories + 1,
    tokens = tokens + excluded.tokens,
    passages = passages + excluded.passages,
    pending = pending + excluded.pending;
END;
