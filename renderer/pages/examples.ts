// Small programs that talk to the server, with its address and the model's name filled in. Pure.

export const EXAMPLES = [
  { value: 'curl', label: 'curl', language: 'bash' },
  { value: 'python', label: 'Python', language: 'python' },
  { value: 'javascript', label: 'JavaScript', language: 'javascript' },
] as const;
export type ExampleName = (typeof EXAMPLES)[number]['value'];

export function exampleCode(name: ExampleName, base: string, model: string): string {
  const id = JSON.stringify(model);
  switch (name) {
    case 'python':
      return [
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url=${JSON.stringify(base)}, api_key="hearth")`,
        'answer = client.chat.completions.create(',
        `    model=${id},`,
        '    messages=[{"role": "user", "content": "Hello"}],',
        ')',
        'print(answer.choices[0].message.content)',
      ].join('\n');
    case 'javascript':
      return [
        "import OpenAI from 'openai';",
        '',
        `const client = new OpenAI({ baseURL: ${JSON.stringify(base)}, apiKey: 'hearth' });`,
        'const stream = await client.chat.completions.create({',
        `  model: ${id},`,
        "  messages: [{ role: 'user', content: 'Hello' }],",
        '  stream: true,',
        '});',
        "for await (const part of stream) process.stdout.write(part.choices[0]?.delta?.content ?? '');",
      ].join('\n');
    default:
      return [
        `curl ${base}/chat/completions \\`,
        "  -H 'Content-Type: application/json' \\",
        `  -d '{"model": ${id.replaceAll("'", "'\\''")}, "messages": [{"role": "user", "content": "Hello"}]}'`,
      ].join('\n');
  }
}
