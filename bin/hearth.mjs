#!/usr/bin/env node
// The `hearth` command: the built CLI, built first where it is missing or stale (in a checkout).
import { existsSync } from 'node:fs';

const built = new URL('../dist/cli.js', import.meta.url);
const setup = new URL('../scripts/setup/setup.mjs', import.meta.url);
if (existsSync(setup)) await (await import(setup.href)).setUp();
await import(built.href);
