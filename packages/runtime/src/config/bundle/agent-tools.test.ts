import { expect, test } from 'bun:test';
import { agentsTool } from '../../agent/agents-api/agents-tool.ts';
import { AGENT_TOOL_NAMES } from './agent-tools.ts';

test('the listed names are those of the tools that an agent gets', () => {
  expect(AGENT_TOOL_NAMES).toEqual(agentsTool.exports.map(({ name }) => `${agentsTool.name}__${name}`));
});
