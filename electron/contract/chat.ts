// A conversation as it travels between processes: the one message shape behind /v1, turns and the prompt renderers.
// Dialects (content parts, legacy fields) are translated into it at the edge, in server/.
import { z } from 'zod';

export const toolCall = z.object({
  id: z.string(),
  name: z.string(),
  /** The arguments as the model wrote them: usually JSON, never parsed on the way. */
  arguments: z.string(),
});
export type ToolCall = z.infer<typeof toolCall>;

export const chatMessage = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.string(),
  reasoning: z.string().optional(),
  toolCalls: z.array(toolCall).optional(),
  toolCallId: z.string().optional(),
  name: z.string().optional(),
});
export type ChatMessage = z.infer<typeof chatMessage>;

export const jsonSchema = z.record(z.string(), z.unknown());
export type JsonSchema = z.infer<typeof jsonSchema>;

export const tool = z.object({
  name: z.string().regex(/^[\w.-]{1,128}$/),
  description: z.string().optional(),
  /** Absent: a function without arguments. */
  parameters: jsonSchema.optional(),
});
export type Tool = z.infer<typeof tool>;

export const toolChoice = z.union([z.enum(['none', 'auto', 'required']), z.object({ name: z.string() })]);
export type ToolChoice = z.infer<typeof toolChoice>;

export const responseFormat = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: z.string(),
    description: z.string().optional(),
    schema: jsonSchema,
  }),
]);
export type ResponseFormat = z.infer<typeof responseFormat>;

export const effort = z.enum(['low', 'medium', 'high']);
export type Effort = z.infer<typeof effort>;

export const chatInput = z.object({
  messages: z.array(chatMessage),
  tools: z.array(tool).default([]),
  toolChoice: toolChoice.default('auto'),
  responseFormat: responseFormat.default({ type: 'text' }),
  effort: effort.default('medium'),
  /** ISO date for the prompt, fixed per conversation so that the prefix stays the same; absent: no date line. */
  date: z.string().optional(),
});
export type ChatInput = z.infer<typeof chatInput>;

export const sampling = z.object({
  /** Absent: the model's own default. */
  temperature: z.number().min(0).max(5).optional(),
  topK: z.int().min(0).optional(),
  topP: z.number().gt(0).max(1).optional(),
  minP: z.number().min(0).max(1).optional(),
  repetitionPenalty: z.number().gt(0).max(10).optional(),
  frequencyPenalty: z.number().min(-2).max(2).optional(),
  presencePenalty: z.number().min(-2).max(2).optional(),
  logitBias: z.array(z.tuple([z.int().min(0), z.number().min(-100).max(100)])).optional(),
  /** Drawn and recorded by main where the client gives none. */
  seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
});
export type Sampling = z.infer<typeof sampling>;

export const finishReason = z.enum(['stop', 'length', 'tool_calls', 'repetition', 'cancelled', 'error']);
export type FinishReason = z.infer<typeof finishReason>;

export const usage = z.object({
  promptTokens: z.int(),
  /** Everything sampled, markup and stop token included. */
  completionTokens: z.int(),
  /** Content tokens of the reasoning. */
  reasoningTokens: z.int(),
  /** Prompt tokens that were not read again. */
  cachedTokens: z.int(),
});
export type Usage = z.infer<typeof usage>;

/** Milliseconds and rates of one generation. */
export const timings = z.object({
  queueMs: z.number(),
  prefillMs: z.number(),
  /** From the start of work to the first token. */
  ttftMs: z.number(),
  decodeMs: z.number(),
  prefillTps: z.number(),
  decodeTps: z.number(),
});
export type Timings = z.infer<typeof timings>;

export const tokenLogprob = z.object({
  token: z.string(),
  bytes: z.array(z.int()),
  logprob: z.number(),
  top: z.array(z.object({ token: z.string(), bytes: z.array(z.int()), logprob: z.number() })),
});
export type TokenLogprob = z.infer<typeof tokenLogprob>;
