// An engine as vLLM is one, from a script: real sockets, so that what a hostile or broken one does is really done. It knows no test runner.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  path: string;
  method: string;
  authorization: string | undefined;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

export type Respond = (response: ServerResponse, asked: Asked) => void | Promise<void>;

export interface StubEngine {
  url: string;
  asked: Asked[];
  /** Connections of answers that were closed before the stub had ended them. */
  cutOff: number[];
  /** For everything but the list of models. */
  respond: Respond;
  models: object;
  close(): Promise<void>;
}

export const KEY = 'sk-secret-of-the-stub';

export async function openStub(respond: Respond = says('Hello', ' there.')): Promise<StubEngine> {
  const stub: StubEngine = {
    url: '',
    asked: [],
    cutOff: [],
    respond,
    models: { object: 'list', data: [{ id: 'Org/Big-Model', object: 'model', max_model_len: 8192 }] },
    close: () => Promise.resolve(),
  };
  const server = createServer((request, response) => void answer(stub, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stub.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  stub.close = () =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return stub;
}

async function answer(stub: StubEngine, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const { url = '', method = '' } = request;
  const asked = {
    path: url,
    method,
    authorization: request.headers.authorization,
    body: text === '' ? undefined : JSON.parse(text),
  };
  if (url === '/v1/models') {
    if (asked.authorization !== undefined && asked.authorization !== `Bearer ${KEY}`)
      return json(401, {})(response, asked);
    return json(200, stub.models)(response, asked);
  }
  stub.asked.push(asked);
  response.on('close', () => {
    if (!response.writableFinished) stub.cutOff.push(performance.now());
  });
  await stub.respond(response, asked);
}

export const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export const json =
  (status: number, body: object): Respond =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

export const stream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });

export const event = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

export const USAGE = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 8 } })}\n\n`;
export const DONE = 'data: [DONE]\n\n';

/** Text, a piece at a time. */
export const says =
  (...pieces: string[]): Respond =>
  (response) => {
    stream(response);
    response.write(event({ role: 'assistant', content: '' }));
    for (const piece of pieces) response.write(event({ content: piece }));
    response.end(event({}, 'stop') + USAGE + DONE);
  };

/** A word every few milliseconds for ever. */
export const endless: Respond = async (response) => {
  stream(response);
  for (let i = 0; !response.destroyed; i++) {
    response.write(event({ content: `word${i} ` }));
    await sleep(5);
  }
};

/** Thinks, then calls a tool, as vLLM streams it. */
export const callsTool: Respond = (response) => {
  stream(response);
  response.write(event({ role: 'assistant', content: '' }));
  response.write(event({ reasoning_content: 'I need' }));
  response.write(event({ reasoning_content: ' the weather.' }));
  const call = (fields: object) => event({ tool_calls: [{ index: 0, ...fields }] });
  response.write(call({ id: 'call_7', type: 'function', function: { name: 'weather', arguments: '' } }));
  response.write(call({ function: { arguments: '{"city":' } }));
  response.write(call({ function: { arguments: '"Ulm"}' } }));
  response.end(event({}, 'tool_calls') + USAGE + DONE);
};
