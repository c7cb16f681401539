// From what a client sent to what a handler may rely on, or to a HearthError that names the field at fault.
import type { z } from 'zod';
import { HearthError } from '../contract/errors';

/** `messages[0].content`, as OpenAI's clients show it. */
export function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((name, key) => {
    if (typeof key === 'number') return `${name}[${key}]`;
    return name === '' ? String(key) : `${name}.${String(key)}`;
  }, '');
}

export function invalid(param: string, message: string): HearthError {
  return new HearthError('invalid_request', message, { param });
}

export function unsupported(param: string, message: string): HearthError {
  return new HearthError('unsupported_parameter', message, { param });
}

type Issue = z.core.$ZodIssue;

/** The branch of a union that came furthest tells most. */
function deepest(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  const branches = issue.errors.flat().map((inner) => ({ ...deepest(inner), path: [...issue.path, ...inner.path] }));
  return branches.reduce<Issue>((best, one) => (one.path.length > best.path.length ? one : best), issue);
}

export function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const first = parsed.error.issues[0];
  if (!first) throw new HearthError('invalid_request', 'The request is malformed.');
  const issue = deepest(first);
  if (issue.path.length === 0)
    throw new HearthError('invalid_request', `The body is not what is expected: ${issue.message}.`);
  const name = fieldName(issue.path);
  throw invalid(name, `${name}: ${issue.message}`);
}
