// The tables, as a list of migrations. A migration is never changed once it has been released: a new one is added.
// It holds SQL and nothing else; running it is migrate.ts's.

/** MIGRATIONS[n] leads from schema version n to n + 1. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE chats (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    head_id TEXT,
    settings TEXT NOT NULL,
    date TEXT NOT NULL
  ) STRICT;
  CREATE INDEX chats_by_time ON chats (updated_at DESC);

  CREATE TABLE messages (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    parent_id TEXT,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    -- [{ channel, text }] in the order in which it was written
    parts TEXT NOT NULL,
    -- little-endian uint32 each
    token_ids BLOB NOT NULL,
    status TEXT NOT NULL,
    finish_reason TEXT,
    error TEXT,
    usage TEXT,
    timings TEXT,
    receipt TEXT,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX messages_by_chat ON messages (chat_id, created_at);
  CREATE INDEX messages_streaming ON messages (status) WHERE status = 'streaming';

  -- What a growing answer was given since it began: appended only, so that a flush costs what it adds.
  CREATE TABLE growth (
    message_row INTEGER NOT NULL REFERENCES messages (row) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    parts TEXT NOT NULL,
    token_ids BLOB NOT NULL,
    PRIMARY KEY (message_row, seq)
  ) STRICT, WITHOUT ROWID;

  -- rowid = messages.row
  CREATE VIRTUAL TABLE message_text USING fts5 (text, tokenize = 'trigram');
  CREATE TRIGGER message_text_gone AFTER DELETE ON messages BEGIN
    DELETE FROM message_text WHERE rowid = old.row;
  END;

  CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

  CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER
  ) STRICT;

  CREATE TABLE measurements (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    "values" TEXT NOT NULL
  ) STRICT;
  CREATE INDEX measurements_by_kind ON measurements (kind, subject, at DESC);
  `,
  `
  -- One cell of the compatibility matrix; a sample is a list of the latest values of each measured name.
  CREATE TABLE matrix (
    model_id TEXT NOT NULL,
    engine_build TEXT NOT NULL,
    device TEXT NOT NULL,
    kv_type TEXT NOT NULL,
    context_bucket INTEGER NOT NULL,
    source TEXT NOT NULL,
    model TEXT NOT NULL,
    samples TEXT NOT NULL,
    self_check TEXT NOT NULL,
    kl REAL,
    at INTEGER NOT NULL,
    PRIMARY KEY (model_id, engine_build, device, kv_type, context_bucket, source)
  ) STRICT, WITHOUT ROWID;

  -- What an artifact answers to the fixed prompts: SHA-256 of the tokens, by prompt.
  CREATE TABLE expected_tokens (
    model_id TEXT NOT NULL,
    device TEXT NOT NULL,
    kv_type TEXT NOT NULL,
    prompts TEXT NOT NULL,
    hashes TEXT NOT NULL,
    engine_build TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (model_id, device, kv_type, prompts)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE remote_engines (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    -- As it is sent: it cannot be a hash.
    key TEXT,
    created_at INTEGER NOT NULL
  ) STRICT;
  `,
  `
  -- What the probe said of a model, until its files change; JSON each
  CREATE TABLE models (
    path TEXT PRIMARY KEY,
    print TEXT NOT NULL,
    info TEXT,
    abilities TEXT,
    error TEXT
  ) STRICT, WITHOUT ROWID;

  -- SHA-256 of a file's content, of the file that had this size and time; "expected" is what its origin says of it
  CREATE TABLE file_hashes (
    path TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    mtime_ms REAL NOT NULL,
    sha256 TEXT,
    expected TEXT
  ) STRICT, WITHOUT ROWID;

  -- How a model was used here, wherever its files lie
  CREATE TABLE model_uses (
    model_id TEXT PRIMARY KEY,
    last_used_at INTEGER NOT NULL,
    decode_tps REAL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- How often each expert was used here, [{ rows, experts }], layer by layer; which were apart from their layers at the last load, [{ layer, experts? }]
  CREATE TABLE expert_uses (
    model_id TEXT PRIMARY KEY,
    layers TEXT NOT NULL,
    served TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;
  `,
];
