/**
 * The agent that `gdn demo` runs: a tool, three extensions and a model that follows a script, so that it needs no key
 * and no network. Everything else is as it would be for a real model.
 */
import type { AgentPlan, ExtensionDeclaration, ToolDeclaration } from '@goondan/runtime';
import type { JsonObject } from '@goondan/types';

const root = import.meta.dirname;

const weather: ToolDeclaration = {
  name: 'weather',
  root,
  entry: './tools/weather.ts',
  exports: [
    {
      name: 'forecast',
      description: 'The highest temperature of each of the next days in a city.',
      parameters: {
        type: 'object',
        properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
        required: ['city', 'days'],
      },
      effects: 'none',
      parallel: true,
    },
    {
      name: 'save',
      description: 'Writes a forecast into forecast.txt in the working folder.',
      parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      effects: 'local',
    },
  ],
};

/** What the model answers: the first rule that fits the newest message. */
const script = [
  {
    when: 'weather in (?<city>\\w+)(?:\\D+(?<days>\\d+) days)?',
    call: { tool: 'weather__forecast', args: { city: '{{city}}', days: '{{days}}' } },
  },
  { afterTool: 'weather__forecast', say: '{{result.summary}}{{result.error.message}}' },
  { say: 'You said: {{input}} – but I know about the weather only. Ask me about the weather in Seoul.' },
];

export const plan: AgentPlan = {
  agentName: 'forecaster',
  systemPrompt: 'You answer questions about the weather in one sentence.',
  models: {
    // Slow enough to see it write.
    'Model/scripted': {
      provider: 'scripted',
      model: 'demo',
      options: { script, latencyMs: 50, tokensPerSecond: 50 },
    },
  },
  tools: [weather],
  extensions: [
    extension('memory'),
    extension('read-only'),
    extension('tool-guard', { limits: { weather__forecast: { days: 3 } }, hidden: ['station'] }),
  ],
};

function extension(name: string, config: JsonObject = {}): ExtensionDeclaration {
  return {
    resource: {
      apiVersion: 'goondan.ai/v1',
      kind: 'Extension',
      metadata: { name },
      spec: { entry: `./extensions/${name}.ts`, config },
    },
    root,
  };
}
