// The door of the templates of other families: prompts by Jinja, output with <think> and <tool_call>.
export { PlainParser, type PlainParserOptions } from './plain-parser';
export { ChatTemplate, type TemplatePrompt } from './template';
