/** Offers the resources and prompts of a server as tools, because a model can use only tools. */
import type { ExtensionToolsApi, JsonObject, JsonValue, ToolContext } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import type { Connection } from './connection.ts';
import type { AskOptions, ContentBlock, McpClient, ServerAbilities } from './mcp-client.ts';
import type { McpSettings } from './mcp-settings.ts';
import { answerQuestions } from './server-questions.ts';
import { asText, Budget, showBlock, showContents } from './tool-result.ts';

const RESOURCE_TOOLS = ['list_resources', 'read_resource'] as const;
const PROMPT_TOOLS = ['list_prompts', 'get_prompt'] as const;

/**
 * Lists the names of these tools without the extension's prefix: all that are configured, or only those that the server
 * supports.
 */
export function sharedNames(
  { resources, prompts }: Pick<McpSettings, 'resources' | 'prompts'>,
  server: Pick<ServerAbilities, 'resources' | 'prompts'> = { resources: true, prompts: true },
) {
  return [...(resources && server.resources ? RESOURCE_TOOLS : []), ...(prompts && server.prompts ? PROMPT_TOOLS : [])];
}

export interface SharedDeps {
  readonly extension: string;
  readonly settings: McpSettings;
  readonly tools: ExtensionToolsApi;
  readonly connection: Connection;
}

/** Registers tools for the configured features that the server supports. Returns the tools' names. */
export function registerSharedTools(deps: SharedDeps, abilities: ServerAbilities): string[] {
  const tools = toolsOf(deps);
  return sharedNames(deps.settings, abilities).map((name) => register(deps, name, tools[name]));
}

function toolsOf({
  settings,
  extension,
}: SharedDeps): Readonly<Record<ReturnType<typeof sharedNames>[number], SharedTool>> {
  const newBudget = () => new Budget(settings.maxResultCharacters);
  return {
    list_resources: {
      description: `Lists the resources of the MCP server "${extension}", and the templates for resources whose URI has parameters.`,
      run: (client, _input, options) => client.listResources(options),
      show: (listed) => newBudget().cutJson(withoutIcons(listed)),
    },
    read_resource: {
      description: `Reads a resource of the MCP server "${extension}".`,
      parameters: {
        type: 'object',
        properties: {
          uri: { type: 'string', description: 'The URI, as list_resources returns it, or built from a template.' },
        },
        required: ['uri'],
        additionalProperties: false,
      },
      run: (client, { uri }, options) => client.readResource(asText(uri), options),
      show({ contents }) {
        const budget = newBudget();
        return { contents: list(contents).map((each) => showContents(each, budget)) };
      },
    },
    list_prompts: {
      description: `Lists the prompts of the MCP server "${extension}", and the arguments they take.`,
      run: (client, _input, options) => client.listPrompts(options),
      show: (listed) => newBudget().cutJson(withoutIcons(listed)),
    },
    get_prompt: {
      description: `Returns the messages of a prompt of the MCP server "${extension}".`,
      parameters: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'The name, as list_prompts returns it.' },
          arguments: { type: 'object', additionalProperties: { type: 'string' } },
        },
        required: ['name'],
        additionalProperties: false,
      },
      // The cast is safe: the arguments were checked against the schema.
      run: (client, { name, arguments: args = {} }, options) =>
        client.getPrompt(asText(name), args as Record<string, string>, options),
      show({ description, messages }) {
        const budget = newBudget();
        return {
          ...(typeof description === 'string' ? { description: budget.cut(description) } : {}),
          messages: list(messages).map((message) => showMessage(message, budget)),
        };
      },
    },
  };
}

interface SharedTool {
  readonly description: string;
  readonly parameters?: JsonObject;
  readonly run: (client: McpClient, input: JsonObject, options: AskOptions) => Promise<JsonObject>;
  readonly show: (answer: JsonObject) => JsonValue;
}

function register({ extension, settings, tools, connection }: SharedDeps, name: string, tool: SharedTool): string {
  const { description, parameters, run, show } = tool;
  const fullName = `${extension}__${name}`;
  const handler = async ({ signal, person }: ToolContext, input: JsonObject) => {
    const onQuestion = answerQuestions(extension, person);
    const options = { timeoutMs: settings.timeouts.callMs, signal, onQuestion };
    return show(await connection.ask((client) => run(client, input, options), { signal, mayRepeat: true }));
  };
  const item = { name: fullName, description, annotations: { readOnly: true, effects: 'external' as const } };
  tools.register(parameters === undefined ? item : { ...item, parameters }, handler);
  return fullName;
}

/** Removes icons and other fields that a model does not need. */
function withoutIcons(listed: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(listed).map(([key, items]) => [
      key,
      list(items).map((item) => {
        if (!isObject(item)) return item;
        const { icons: _icons, _meta, ...shown } = item;
        return shown;
      }),
    ]),
  );
}

function showMessage(message: JsonValue, budget: Budget): JsonValue {
  if (!isObject(message)) return null;
  const { role = '', content } = message;
  // The cast is safe: the SDK has checked that the block has a type.
  return { role, content: isObject(content) ? showBlock(content as unknown as ContentBlock, budget) : null };
}

function list(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}
