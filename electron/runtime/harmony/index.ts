// The door of harmony: detection, rendering, parsing.
export { CONTROL_NAMES, harmonyTokens, stopTokens, type HarmonyTokens } from './control';
export { chatToHarmony, dropAnalysis, type AnalysisRule } from './conversation';
export { renderMessage, type HarmonyMessage, type Segment } from './message';
export { HarmonyParser, type HarmonyResult, type ParsedMessage, type ParserOptions } from './parser';
export { encodeSegments, renderChat, renderForCompletion, segmentsToText, type RenderedPrompt } from './render';
export { GPT_OSS_IDENTITY, developerContent, systemContent, type Identity } from './system';
export { schemaToTypeScript, toolsSection, type ToolNamespace } from './typescript';
