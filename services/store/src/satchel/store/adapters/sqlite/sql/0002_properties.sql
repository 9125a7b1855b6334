-- What is true of the database as a whole; exactly one row.
--
-- `store_id` is a random UUID made with the database: followers of the change feed see by it that the store
-- was replaced. `words_removed` counts how often words of a memory were removed, by deletion or by change;
-- `words_swept` is its value when the full-text index was last rewritten without them.
CREATE TABLE properties (
  id            INTEGER PRIMARY KEY CHECK (id = 1),
  store_id      TEXT    NOT NULL,
  words_removed INTEGER NOT NULL,
  words_swept   INTEGER NOT NULL
) STRICT;

-- Version 4 (random) by RFC 9562, section 5.4; a database of before is swept once.
INSERT INTO properties (id, store_id, words_removed, words_swept)
SELECT 1,
  substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-4' || substr(hex, 14, 3) || '-a' || substr(hex, 18, 3)
  || '-' || substr(hex, 21, 12),
  EXISTS (SELECT 1 FROM memories), 0
FROM (SELECT lower(hex(randomblob(16))) AS hex);

DROP TRIGGER words_removed;
CREATE TRIGGER words_removed AFTER DELETE ON words BEGIN
  INSERT INTO stems (stems, rowid, title, tags, summary, body, fields)
  VALUES ('delete', old.memory, old.title, old.tags, old.summary, old.body, old.fields);
  UPDATE properties SET words_removed = words_removed + 1;
END;
