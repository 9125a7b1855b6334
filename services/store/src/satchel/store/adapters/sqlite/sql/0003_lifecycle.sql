-- When and by which run a memory was archived (NULL while it is active; the run also where an import did not
-- say), and when it was last brought back (NULL for never).
ALTER TABLE memories ADD COLUMN archived_at INTEGER;
ALTER TABLE memories ADD COLUMN archive_batch TEXT;
ALTER TABLE memories ADD COLUMN unarchived_at INTEGER;

CREATE INDEX memories_by_batch ON memories (archive_batch) WHERE archive_batch IS NOT NULL;

-- The timeline: newest first, then by id; wide enough that no memory is read before it is known to be shown.
CREATE INDEX memories_by_moment ON memories (project, effective_at DESC, id, state, wing, room, type);

-- What may be archived by its age, which counts from the return of a memory that was archived before: session
-- notes (4) and debug logs (5). A query must repeat the conditions of the index to use it.
CREATE INDEX memories_by_age ON memories (type, ifnull(unarchived_at, created_at), id)
  WHERE state = 1 AND type IN (4, 5);
