/** Answers the first question of a stopped workspace: `answer-process.ts STATE_ROOT WORKSPACE`. */
import { openQuestions } from '@goondan/runtime/internal';

const [, , stateRoot = '', workspaceId = ''] = process.argv;
const opened = await openQuestions({ stateRoot, workspaceId, swarm: 'approval', warn: () => undefined });
const [question] = await opened.questions();
process.stdout.write('open\n');
if (question !== undefined) await opened.answer({ id: question.id, decision: 'approved', by: 'ann', via: 'disk' });
process.stdout.write('answered\n');
await opened.close();
