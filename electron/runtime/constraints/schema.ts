// Takes a client's JSON schema apart before a grammar is made of it: what the grammar cannot hold to is refused by name, what it
// misreads is rewritten to mean the same or less, and its cost is estimated. The finished output is checked against the original.
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../../contract/chat';
import { HearthError } from '../../contract/errors';
import { grammarPattern, lengthPattern } from './pattern';

export interface PreparedSchema {
  /** What the grammar engine is given. */
  grammar: unknown;
  /** What is wrong with a finished output, or null. */
  check(text: string): string | null;
  /** About the time that compiling takes per token of the vocabulary, in nanoseconds. */
  cost: number;
}

const DEEPEST = 64;
const MOST_NODES = 5000;
const LONGEST_TEXT = 256 * 1024;

/** Nanoseconds per vocabulary token, measured with 201,088 tokens on one 2.5 GHz core. */
const COST = { property: 30, string: 1100, repetition: 230, value: 2, node: 5 };
/** A string's length is left to the final check where counting it would take longer than this, in milliseconds. */
const LENGTH_BUDGET_MS = 1000;

/** Keywords that say something about validity; those in neither set are notes. */
const SHAPES = new Set([
  ...['type', 'enum', 'const', 'properties', 'required', 'additionalProperties', 'items', 'prefixItems', 'minItems'],
  ...['maxItems', 'minLength', 'maxLength', 'pattern', 'format', 'minimum', 'maximum', 'exclusiveMinimum'],
  ...['exclusiveMaximum', 'anyOf', 'oneOf', 'allOf', '$ref', 'nullable', 'uniqueItems'],
]);
/** Keywords that restrict, and that no grammar here can hold to. */
const REFUSED = new Set([
  ...['not', 'if', 'then', 'else', 'multipleOf', 'contains', 'minContains', 'maxContains', 'patternProperties'],
  ...['propertyNames', 'minProperties', 'maxProperties', 'dependentRequired', 'dependentSchemas', 'dependencies'],
  ...['unevaluatedProperties', 'unevaluatedItems', 'additionalItems', '$dynamicRef', '$recursiveRef', '$anchor'],
]);
const FORMATS = new Set(['date', 'time', 'date-time', 'email', 'uuid']);
const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'null', 'object', 'array']);

type Node = Record<string, unknown>;

/**
 * `where`: the request's field, for messages. `vocabulary`: the number of tokens.
 * Throws HearthError{unsupported_schema} that names the keyword.
 */
export function prepareSchema(schema: JsonSchema, where: string, vocabulary: number): PreparedSchema {
  const walker = new Walker(schema, where, (LENGTH_BUDGET_MS * 1e6) / vocabulary);
  const grammar = walker.root();
  return { grammar, check: checker(schema, where), cost: walker.cost };
}

export function refuseSchema(where: string, path: string, what: string): HearthError {
  return new HearthError('unsupported_schema', `${where}: the schema${path ? ` at ${path}` : ''} ${what}.`, {
    param: where,
  });
}

function checker(schema: JsonSchema, where: string): (text: string) => string | null {
  const { $schema: _dialect, $id: _id, ...plain } = schema;
  const { ajv, validate } = compileCheck(plain, where);
  return (text) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return 'it is not valid JSON';
    }
    return validate(value) ? null : ajv.errorsText(validate.errors, { dataVar: 'output' });
  };
}

function compileCheck(schema: JsonSchema, where: string): { ajv: Ajv2020; validate: ReturnType<Ajv2020['compile']> } {
  let first: unknown;
  // patterns of older engines may hold escapes that Unicode mode refuses
  for (const unicodeRegExp of [true, false]) {
    const options = {
      strict: false,
      validateFormats: false,
      logger: false,
      validateSchema: false,
      unicodeRegExp,
    } as const;
    const ajv = new Ajv2020(options);
    try {
      return { ajv, validate: ajv.compile(schema) };
    } catch (error) {
      first ??= error;
    }
  }
  throw refuseSchema(where, '', `cannot be read: ${first instanceof Error ? first.message : String(first)}`);
}

class Walker {
  /** Every grammar has JSON's strings in it. */
  cost = COST.string;
  private nodes = 0;

  constructor(
    private readonly schema: JsonSchema,
    private readonly where: string,
    private readonly lengthBudget: number,
  ) {
    if (JSON.stringify(schema).length > LONGEST_TEXT) throw this.refuse('', 'is too large');
  }

  root(): unknown {
    const grammar = this.node(this.schema, '#', 0) as Node;
    for (const field of ['$defs', 'definitions']) {
      const definitions = this.schema[field];
      if (definitions === undefined) continue;
      if (!isNode(definitions)) throw this.refuse(`#/${field}`, 'is not an object');
      grammar[field] = mapValues(definitions, (d, name) => this.node(d, `#/${field}/${name}`, 1));
    }
    return grammar;
  }

  private refuse(path: string, what: string): HearthError {
    return refuseSchema(this.where, path, what);
  }

  private node(schema: unknown, path: string, depth: number): unknown {
    if (schema === true) return {};
    if (!isNode(schema)) throw this.refuse(path, 'is not an object');
    if (depth > DEEPEST) throw this.refuse(path, 'is nested too deeply');
    if (++this.nodes > MOST_NODES) throw this.refuse(path, 'is too large');
    this.cost += COST.node;
    for (const key of Object.keys(schema)) {
      if (REFUSED.has(key)) throw this.refuse(path, `uses "${key}", which cannot be enforced`);
    }
    if (schema['nullable'] === true) {
      const { nullable: _, ...rest } = schema;
      return { anyOf: [this.node(rest, path, depth + 1), { type: 'null' }] };
    }
    if (schema['$ref'] !== undefined) return this.reference(schema, path);
    for (const key of ['anyOf', 'oneOf', 'allOf'])
      if (schema[key] !== undefined) return this.choice(schema, key, path, depth);
    if (schema['const'] !== undefined) return { const: this.values([schema['const']])[0] };
    if (schema['enum'] !== undefined) return this.enumeration(schema, path);
    return this.typed(schema, path, depth);
  }

  private onlyBeside(schema: Node, key: string, path: string): void {
    const other = Object.keys(schema).find((k) => k !== key && SHAPES.has(k));
    if (other !== undefined) throw this.refuse(path, `uses "${other}" beside "${key}", which cannot be enforced`);
  }

  private reference(schema: Node, path: string): unknown {
    this.onlyBeside(schema, '$ref', path);
    const ref = schema['$ref'];
    if (typeof ref !== 'string' || !/^#($|\/)/.test(ref)) throw this.refuse(path, 'refers to something outside itself');
    let target: unknown = this.schema;
    for (const part of ref.split('/').slice(1)) {
      const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
      target = isNode(target) && Object.hasOwn(target, name) ? target[name] : undefined;
    }
    if (target === undefined) throw this.refuse(path, `refers to ${ref.slice(0, 100)}, which does not exist`);
    if (!/^#$|^#\/(\$defs|definitions)\/[^/]+$/.test(ref))
      throw this.refuse(path, `refers to ${ref.slice(0, 100)}, not to $defs`);
    return { $ref: ref };
  }

  private choice(schema: Node, key: string, path: string, depth: number): unknown {
    const type = schema['type'];
    const beside = Object.keys(schema).find((k) => k !== key && k !== 'type' && SHAPES.has(k));
    if (beside !== undefined) throw this.refuse(path, `uses "${beside}" beside "${key}", which cannot be enforced`);
    const options = schema[key];
    if (!Array.isArray(options) || options.length === 0)
      throw this.refuse(`${path}/${key}`, 'is not a list of schemas');
    if (key === 'allOf' && options.length > 1)
      throw this.refuse(path, 'uses "allOf" with several schemas, which cannot be enforced');
    const inner = options.map((o: unknown, i) => {
      const option =
        isNode(o) && type !== undefined && o['type'] === undefined && o['$ref'] === undefined ? { type, ...o } : o;
      return this.node(option, `${path}/${key}/${i}`, depth + 1);
    });
    return inner.length === 1 ? inner[0] : { anyOf: inner };
  }

  private enumeration(schema: Node, path: string): unknown {
    const values = schema['enum'];
    if (!Array.isArray(values) || values.length === 0) throw this.refuse(`${path}/enum`, 'is not a list of values');
    const types = this.types(schema, path);
    const fitting = types.length > 0 ? values.filter((v) => types.some((t) => hasType(v, t))) : values;
    if (fitting.length === 0) throw this.refuse(path, 'has an "enum" that its "type" excludes');
    return { enum: this.values(fitting) };
  }

  private values(values: unknown[]): unknown[] {
    this.cost += COST.value * values.length;
    return values;
  }

  private types(schema: Node, path: string): string[] {
    const given = schema['type'] === undefined ? [] : [schema['type']].flat();
    const wrong = given.find((t) => typeof t !== 'string' || !TYPES.has(t));
    if (wrong !== undefined) throw this.refuse(`${path}/type`, `names no type: ${JSON.stringify(wrong).slice(0, 50)}`);
    return given as string[];
  }

  private typed(schema: Node, path: string, depth: number): unknown {
    let types = this.types(schema, path);
    if (types.length === 0) {
      if ('properties' in schema || 'additionalProperties' in schema || 'required' in schema) types = ['object'];
      else if ('items' in schema || 'prefixItems' in schema || 'minItems' in schema) types = ['array'];
      else if ('pattern' in schema || 'minLength' in schema || 'maxLength' in schema) types = ['string'];
      else if ('minimum' in schema || 'maximum' in schema) types = ['number'];
      else return {};
    }
    const shapes = types.map((type) => this.ofType(type, schema, path, depth));
    return shapes.length === 1 ? shapes[0] : { anyOf: shapes };
  }

  private ofType(type: string, schema: Node, path: string, depth: number): unknown {
    switch (type) {
      case 'object':
        return this.object(schema, path, depth);
      case 'array':
        return this.array(schema, path, depth);
      case 'string':
        return this.string(schema, path);
      case 'integer':
        return this.integer(schema);
      default:
        // bounds of fractions are left to the final check: the grammar engine misreads them
        return { type };
    }
  }

  private object(schema: Node, path: string, depth: number): unknown {
    const properties = schema['properties'] ?? {};
    if (!isNode(properties)) throw this.refuse(`${path}/properties`, 'is not an object');
    const names = Object.keys(properties);
    const required = schema['required'] ?? [];
    if (!Array.isArray(required)) throw this.refuse(`${path}/required`, 'is not a list');
    // a name that JSON escapes cannot be put into a grammar
    const odd = names.find((n) => /["\\\u0000-\u001f\u007f]/.test(n));
    if (odd !== undefined)
      throw this.refuse(path, `has a property name that cannot be enforced: ${JSON.stringify(odd).slice(0, 80)}`);
    const missing = required.find((n) => typeof n !== 'string' || !names.includes(n)) as unknown;
    if (missing !== undefined)
      throw this.refuse(path, `requires ${JSON.stringify(missing).slice(0, 80)} but does not describe it`);
    this.cost += COST.property * names.length * (required.length < names.length ? 2 : 1);
    const more = schema['additionalProperties'] ?? names.length === 0;
    return {
      type: 'object',
      properties: mapValues(properties, (p, name) => this.node(p, `${path}/properties/${name}`, depth + 1)),
      required,
      // free objects may hold anything; where properties are named, the output keeps to them
      additionalProperties:
        typeof more === 'boolean' ? more : this.node(more, `${path}/additionalProperties`, depth + 1),
    };
  }

  private array(schema: Node, path: string, depth: number): unknown {
    if (schema['uniqueItems'] === true) throw this.refuse(path, 'uses "uniqueItems", which cannot be enforced');
    const out: Node = { type: 'array' };
    const { items, prefixItems } = schema;
    if (prefixItems !== undefined) {
      if (!Array.isArray(prefixItems)) throw this.refuse(`${path}/prefixItems`, 'is not a list');
      out['prefixItems'] = prefixItems.map((p, i) => this.node(p, `${path}/prefixItems/${i}`, depth + 1));
    }
    if (items === false) out['items'] = false;
    else if (items !== undefined) out['items'] = this.node(items, `${path}/items`, depth + 1);
    for (const key of ['minItems', 'maxItems']) {
      const bound = this.count(schema, key, path);
      if (bound !== undefined) out[key] = bound;
    }
    return out;
  }

  private string(schema: Node, path: string): unknown {
    const { pattern, format } = schema;
    const [least, most] = [this.count(schema, 'minLength', path), this.count(schema, 'maxLength', path)];
    if (pattern !== undefined) {
      const usable = typeof pattern === 'string' ? grammarPattern(pattern) : null;
      if (!usable) throw this.refuse(path, `has a "pattern" that cannot be enforced: ${String(pattern).slice(0, 100)}`);
      const other = ['minLength', 'maxLength', 'format'].find((k) => schema[k] !== undefined);
      if (other) throw this.refuse(path, `uses "${other}" beside "pattern", which cannot be enforced`);
      this.cost += COST.repetition * usable.states;
      return { type: 'string', pattern: usable.pattern };
    }
    if (typeof format === 'string' && FORMATS.has(format)) {
      this.cost += COST.string * 2;
      return { type: 'string', format };
    }
    if (least === undefined && most === undefined) return { type: 'string' };
    const counting = COST.repetition * Math.max(least ?? 0, most ?? 0);
    if (counting > this.lengthBudget) return { type: 'string' };
    this.cost += counting;
    // the engine's own length bounds let control characters in
    return { type: 'string', pattern: lengthPattern(least ?? 0, most) };
  }

  private integer(schema: Node): unknown {
    const low = strongest(schema['minimum'], schema['exclusiveMinimum'], 1);
    const high = strongest(schema['maximum'], schema['exclusiveMaximum'], -1);
    return {
      type: 'integer',
      ...(low !== undefined && { minimum: low }),
      ...(high !== undefined && { maximum: high }),
    };
  }

  private count(schema: Node, key: string, path: string): number | undefined {
    const value = schema[key];
    if (value === undefined) return undefined;
    if (!Number.isSafeInteger(value) || (value as number) < 0) throw this.refuse(`${path}/${key}`, 'is not a count');
    if (key.endsWith('Items')) {
      if ((value as number) > 2000) throw this.refuse(path, `has a "${key}" too large to be enforced`);
      this.cost += COST.value * (value as number);
    }
    return value as number;
  }
}

/** The tighter of an inclusive and an exclusive bound, as an inclusive integer. `step` 1: lower bounds, -1: upper ones. */
function strongest(inclusive: unknown, exclusive: unknown, step: 1 | -1): number | undefined {
  const bounds: number[] = [];
  const round = step === 1 ? Math.ceil : Math.floor;
  if (typeof inclusive === 'number') bounds.push(round(inclusive));
  if (typeof exclusive === 'number') bounds.push(Number.isInteger(exclusive) ? exclusive + step : round(exclusive));
  // beyond this the grammar engine's own arithmetic ends
  const safe = bounds.filter((b) => Math.abs(b) <= 2 ** 50);
  if (safe.length === 0) return undefined;
  return step === 1 ? Math.max(...safe) : Math.min(...safe);
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isNode(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapValues(node: Node, change: (value: unknown, name: string) => unknown): Node {
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, change(value, name)]));
}

/** The schema with every reference changed, for use inside another one. */
export function rebase(schema: unknown, change: (ref: string) => string): unknown {
  if (Array.isArray(schema)) return schema.map((s) => rebase(s, change));
  if (!isNode(schema)) return schema;
  return mapValues(schema, (value, key) =>
    key === '$ref' && typeof value === 'string' ? change(value) : rebase(value, change),
  );
}
