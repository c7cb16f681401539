// The matrix over HTTP, and what the state says of a model that got worse.
import { describe, expect, it } from 'vitest';
import { matrixReply } from '../../../electron/contract/models';
import { appState } from '../../../electron/contract/own';
import type { MatrixSample } from '../../../electron/store/types';
import { authorized, ask, own, startServer } from './harness';

const sample = (fields: Partial<MatrixSample>): MatrixSample => ({
  model: 'gpt-oss-20b',
  modelId: 'sha256-of-gpt-oss-20b',
  engineBuild: 'build-0',
  device: 'cpu/avx2 fast',
  kvType: 'f16',
  contextBucket: 512,
  source: 'check',
  values: { decodeTps: 10 },
  selfCheck: 'passed',
  at: 1,
  ...fields,
});

describe('the matrix', () => {
  it('is read as JSON and as Markdown, and never without the token', async () => {
    const server = await startServer();
    await server.options.store.addToMatrix(sample({}));
    const { rows } = matrixReply.parse((await own(server, 'GET', '/matrix')).body);
    expect(rows).toMatchObject([{ engineBuild: 'build-0', decodeTps: 10 }]);
    const markdown = await ask(server, 'GET', '/hearth/v1/matrix?format=md', { headers: authorized });
    expect(markdown.headers['content-type']).toMatch(/^text\/markdown/);
    expect(markdown.raw).toContain('| gpt-oss-20b | sha256-of-gp | build-0 | cpu/avx2 fast | f16 | ≤ 512 |');
    expect((await ask(server, 'GET', '/hearth/v1/matrix')).status).toBe(401);
    expect((await own(server, 'GET', '/matrix?format=xml')).status).toBe(400);
  });

  it('a model that got worse says so in the state, and what it was better with', async () => {
    const server = await startServer();
    await server.options.store.addToMatrix(sample({}));
    await server.options.store.addToMatrix(sample({ engineBuild: 'build-1', values: { decodeTps: 7 }, at: 2 }));
    await own(server, 'GET', '/matrix');
    const before = appState.parse((await own(server, 'GET', '/state')).body);
    expect(before.active).toBeUndefined();
    expect((await own(server, 'POST', '/models/load', { model: 'gpt-oss-20b' })).status).toBe(202);
    const { active } = appState.parse((await own(server, 'GET', '/state')).body);
    expect(active?.regression).toEqual({
      measures: ['decodeTps'],
      good: { engineBuild: 'build-0', modelId: 'sha256-of-gpt-oss-20b', at: 1 },
    });
  });

  it('every model in memory says so, and offers the good version where that is here', async () => {
    const server = await startServer();
    const build = { engineBuild: 'build-1' };
    await server.options.store.addToMatrix(sample({ ...build, modelId: 'sha256-of-plain' }));
    await server.options.store.addToMatrix(sample({ ...build, values: { decodeTps: 7 }, at: 2 }));
    await own(server, 'GET', '/matrix');
    await own(server, 'POST', '/models/load', { model: 'gpt-oss-20b' });
    const { loaded } = appState.parse((await own(server, 'GET', '/state')).body);
    expect(loaded.map(({ regression }) => regression)).toMatchObject([{ measures: ['decodeTps'], rollback: 'plain' }]);
  });

  it('a check of what is not there is refused, and one that fails says why', async () => {
    const server = await startServer();
    expect((await own(server, 'POST', '/matrix/check', { model: 'nothing' })).status).toBe(404);
    expect((await own(server, 'POST', '/matrix/check', { model: 'broken' })).status).toBe(422);
    const begun = await own(server, 'POST', '/matrix/check', { model: 'gpt-oss-20b' });
    expect([begun.status, begun.body]).toEqual([202, { model: 'gpt-oss-20b', state: 'running', phase: 'waiting' }]);
    await expect
      .poll(async () => matrixReply.parse((await own(server, 'GET', '/matrix')).body).checks, { timeout: 5000 })
      .toMatchObject([{ state: 'failed', error: { code: 'internal' } }]);
  });

  it('answers through the API fill it', async () => {
    const server = await startServer();
    await server.supervisor.load({ name: 'gpt-oss-20b', path: '' });
    const body = { model: 'gpt-oss-20b', messages: [{ role: 'user', content: 'Hi' }] };
    expect((await ask(server, 'POST', '/v1/chat/completions', { body })).status).toBe(200);
    const { rows } = matrixReply.parse((await own(server, 'GET', '/matrix')).body);
    expect(rows).toMatchObject([{ model: 'gpt-oss-20b', contextBucket: 0, loadMs: 1, source: 'use' }]);
  });
});
