/** Two agents in separate processes: the host asks the librarian whenever its model needs to know something. */
import { startSwarm, type Swarm } from '@goondan/runtime';

export function startLibrary(stateRoot: string): Promise<Swarm> {
  return startSwarm({
    name: 'library',
    stateRoot,
    entryAgent: 'host',
    agents: [
      {
        agentName: 'host',
        description: 'Talks to visitors.',
        // The model may call agents__request, agents__send, agents__list and agents__catalog.
        agentTools: true,
        models: scripted([
          { when: 'about (?<topic>\\w+)', call: ask('librarian', 'What do you know about {{topic}}?') },
          { when: 'host again', call: ask('host', 'Are you there?') },
          { when: 'who works here', call: { tool: 'agents__catalog', args: {} } },
          { afterTool: 'agents__request', say: '{{result.response}}{{result.error.message}}' },
          { afterTool: 'agents__catalog', say: 'You could ask the {{result.agents.1.name}}.' },
          { say: 'Hello!' },
        ]),
      },
      {
        agentName: 'librarian',
        description: 'Knows about books.',
        models: scripted([{ when: 'tea', say: 'Sencha is steamed, not roasted.' }, { say: 'Nothing yet.' }]),
      },
    ],
  });
}

function ask(target: string, input: string) {
  return { tool: 'agents__request', args: { target, input } };
}

function scripted(script: readonly object[]) {
  const options = { script: JSON.parse(JSON.stringify(script)) };
  return { 'Model/scripted': { provider: 'scripted', model: 'library', options } };
}
