"""Oracle for harmony: the official library (PyPI openai-harmony) renders conversations and parses token streams.

usage: harmony_official.py RANKS_DIR JOBS_JSON > RESULTS_JSON
A job is {"namespace": "browser" | "python"} (how the library describes a tool of its own) or {"render": [message...], "drop": bool} or {"parse": [id...], "strict": bool}.
A message has role, content and optionally name, recipient, channel, contentType; content is a string, or for the roles system
and developer an object: {effort, date, cutoff, identity, builtins} and {instructions, tools: [{name, description, parameters}]}.
"""
import json, os, sys

os.environ["TIKTOKEN_ENCODINGS_BASE"] = sys.argv[1]
from openai_harmony import (  # noqa: E402
    Author,
    Conversation,
    DeveloperContent,
    HarmonyEncodingName,
    Message,
    ReasoningEffort,
    RenderConversationConfig,
    Role,
    StreamableParser,
    SystemContent,
    TextContent,
    ToolDescription,
    ToolNamespaceConfig,
    load_harmony_encoding,
)

encoding = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)


def content(message):
    c = message["content"]
    if isinstance(c, str):
        return TextContent(text=c)
    if message["role"] == "system":
        system = SystemContent.new()
        if "identity" in c:
            system = system.with_model_identity(c["identity"])
        if "effort" in c:
            system = system.with_reasoning_effort(ReasoningEffort(c["effort"].capitalize()))
        if "cutoff" in c:
            system = system.with_knowledge_cutoff(c["cutoff"])
        if "date" in c:
            system = system.with_conversation_start_date(c["date"])
        for tool in c.get("builtins", []):
            system = system.with_browser_tool() if tool == "browser" else system.with_python_tool()
        return system
    developer = DeveloperContent.new()
    if "instructions" in c:
        developer = developer.with_instructions(c["instructions"])
    if c.get("tools"):
        tools = [ToolDescription.new(t["name"], t.get("description", ""), parameters=t.get("parameters")) for t in c["tools"]]
        developer = developer.with_function_tools(tools)
    return developer


def message(m):
    author = Author(role=Role(m["role"]), name=m.get("name"))
    out = Message.from_author_and_content(author, content(m))
    if "channel" in m:
        out = out.with_channel(m["channel"])
    if "recipient" in m:
        out = out.with_recipient(m["recipient"])
    if "contentType" in m:
        out = out.with_content_type(m["contentType"])
    return out


def render(job):
    conversation = Conversation.from_messages([message(m) for m in job["render"]])
    config = RenderConversationConfig(auto_drop_analysis=job.get("drop", True))
    tokens = encoding.render_conversation_for_completion(conversation, Role.ASSISTANT, config)
    return {"tokens": tokens, "text": encoding.decode_utf8(tokens)}


def parse(job):
    try:
        parser = StreamableParser(encoding, Role.ASSISTANT, strict=job.get("strict", True))
        for token in job["parse"]:
            parser.process(token)
        parser.process_eos()
    except Exception as error:  # the library's own words
        return {"error": str(error)}
    return {
        "messages": [
            {
                "role": m.author.role.value,
                "channel": m.channel,
                "recipient": m.recipient,
                "contentType": m.content_type,
                "content": "".join(c.text for c in m.content),
            }
            for m in parser.messages
        ]
    }


def namespace(job):
    config = ToolNamespaceConfig.browser() if job["namespace"] == "browser" else ToolNamespaceConfig.python()
    return {"namespace": config.model_dump(exclude_none=True)}


def answer(job):
    return namespace(job) if "namespace" in job else render(job) if "render" in job else parse(job)


jobs = json.load(open(sys.argv[2], encoding="utf-8"))
json.dump([answer(j) for j in jobs], sys.stdout)
