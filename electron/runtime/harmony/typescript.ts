// Function tools as the TypeScript that gpt-oss was trained to read (harmony library, json_schema_to_typescript).
// It mirrors that renderer, oddities included; what the schema dialect adds beyond it is shown as `any`.
import type { JsonSchema, Tool } from '../../contract/chat';

type Schema = Record<string, unknown>;

/** Deeper schemas are shown as `any`. */
const DEEPEST = 64;

/** Tools under one name: a caller's functions, or what a model was trained to use by itself (browser, python). */
export interface ToolNamespace {
  name: string;
  description?: string;
  /** None: the description says how the tool is used, and no TypeScript follows. */
  tools: readonly Tool[];
}

/** "## NAME", its description, and its functions as a TypeScript namespace. */
export function toolsSection({ name: namespace, description, tools }: ToolNamespace): string {
  const lines = [`## ${namespace}\n`];
  const comment = tools.length > 0 ? '// ' : '';
  for (const line of splitLines(description ?? '')) lines.push(`${comment}${line}`);
  if (tools.length === 0) return lines.join('\n');
  lines.push(`namespace ${namespace} {\n`);
  for (const tool of tools) {
    for (const line of splitLines(tool.description ?? '')) lines.push(`// ${line}`);
    lines.push(`${signature(tool.name, tool.parameters)}\n`);
  }
  lines.push(`} // namespace ${namespace}`);
  return lines.join('\n');
}

function signature(name: string, parameters: JsonSchema | undefined): string {
  return parameters === undefined
    ? `type ${name} = () => any;`
    : `type ${name} = (_: ${schemaToTypeScript(parameters, '')}) => any;`;
}

/** Rust's str::lines: no empty last line, "\r\n" counts as "\n". */
function splitLines(text: string): string[] {
  if (text === '') return [];
  return text.replace(/\n$/, '').split(/\r?\n/);
}

export function schemaToTypeScript(schema: unknown, indent: string, depth = 0): string {
  if (!isSchema(schema) || depth > DEEPEST) return 'any';
  if (Array.isArray(schema['oneOf'])) {
    return (schema['oneOf'] as unknown[]).map((variant) => topVariant(variant, indent, depth)).join('');
  }
  const { type } = schema;
  if (Array.isArray(type)) {
    const names = type.filter((t): t is string => typeof t === 'string');
    return names.length > 0 ? names.map((t) => (t === 'integer' ? 'number' : t)).join(' | ') : 'any';
  }
  switch (type) {
    case 'object':
      return objectType(schema, indent, depth);
    case 'string':
      return enumType(schema) ?? 'string';
    case 'number':
    case 'integer':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return 'items' in schema ? `${schemaToTypeScript(schema['items'], indent, depth + 1)}[]` : 'Array<any>';
    default:
      return 'any';
  }
}

function topVariant(variant: unknown, indent: string, depth: number): string {
  const type = schemaToTypeScript(variant, `${indent}   `, depth + 1);
  return `\n${indent} | ${withNull(type, variant)}${comments([descriptionOf(variant), defaultOf(variant, true)])}`;
}

function objectType(schema: Schema, indent: string, depth: number): string {
  const description = descriptionOf(schema);
  const properties = isSchema(schema['properties']) ? Object.entries(schema['properties']) : [];
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const body = properties.map(([name, value]) => {
    const label = `${indent}${name}${required.has(name) ? '' : '?'}:`;
    return propertyComments(value, indent) + property(label, value, indent, depth);
  });
  return `${description === undefined ? '' : `${indent}// ${description}\n`}{\n${body.join('')}${indent}}`;
}

function propertyComments(value: unknown, indent: string): string {
  if (!isSchema(value)) return '';
  let out = '';
  if (typeof value['title'] === 'string') out += `${indent}// ${value['title']}\n${indent}//\n`;
  const description = descriptionOf(value);
  if (description !== undefined && !Array.isArray(value['oneOf'])) out += `${indent}// ${description}\n`;
  const examples = value['examples'];
  if (Array.isArray(examples) && examples.length > 0) {
    out += `${indent}// Examples:\n`;
    for (const example of examples) if (typeof example === 'string') out += `${indent}// - "${example}"\n`;
  }
  return out;
}

function property(label: string, value: unknown, indent: string, depth: number): string {
  if (isSchema(value) && Array.isArray(value['oneOf'])) return oneOfProperty(label, value, indent, depth);
  const type = withNull(schemaToTypeScript(value, `${indent}    `, depth + 1), value);
  return `${label} ${type},${comments([defaultOf(value)])}\n`;
}

function oneOfProperty(label: string, value: Schema, indent: string, depth: number): string {
  const variants = value['oneOf'] as unknown[];
  const description = descriptionOf(value);
  let out = '';
  if (description !== undefined && description !== descriptionOf(variants[0])) out += `${indent}// ${description}\n`;
  const fallback = defaultOf(value);
  if (fallback !== undefined) out += `${indent}// ${fallback}\n`;
  out += `${label}\n`;
  variants.forEach((variant, i) => {
    const type = withNull(schemaToTypeScript(variant, `${indent}   `, depth + 1), variant);
    // the library's oddity: beside a description of the property the first variant's own is never shown
    const repeated = description !== undefined && (i === 0 || descriptionOf(variant) === description);
    out += `${indent} | ${type}${comments([repeated ? undefined : descriptionOf(variant), defaultOf(variant)])}\n`;
  });
  return `${out}${indent},\n`;
}

function enumType(schema: Schema): string | undefined {
  if (!isEnum(schema)) return undefined;
  const names = (schema['enum'] as unknown[]).filter((v): v is string => typeof v === 'string');
  return names.length > 0 ? names.map((v) => `"${v}"`).join(' | ') : 'string';
}

function withNull(type: string, schema: unknown): string {
  return isSchema(schema) && schema['nullable'] === true && !type.includes('null') ? `${type} | null` : type;
}

/** Defaults of enums are shown bare, except where `quoted`. */
function defaultOf(schema: unknown, quoted = false): string | undefined {
  if (!isSchema(schema) || schema['default'] === undefined) return undefined;
  const value = schema['default'];
  if (typeof value !== 'string') return `default: ${JSON.stringify(value)}`;
  return isEnum(schema) && !quoted ? `default: ${value}` : `default: "${value}"`;
}

function descriptionOf(schema: unknown): string | undefined {
  return isSchema(schema) && typeof schema['description'] === 'string' ? schema['description'] : undefined;
}

function comments(parts: (string | undefined)[]): string {
  const present = parts.filter((p) => p !== undefined);
  return present.length > 0 ? ` // ${present.join(' ')}` : '';
}

function isEnum(schema: Schema): boolean {
  return Array.isArray(schema['enum']) && schema['enum'].length > 0;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
