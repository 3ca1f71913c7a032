import { startSwarm } from '@goondan/runtime';

const swarm = await startSwarm({
  bundleFolder: 'shop',
  onLog: ({ level, message }) => level === 'error' && console.error(message),
});

// The swarm asks about every sale. A program with a user would ask the user here. With `soFar`, the program also gets
// the questions of an earlier run.
await swarm.watch({ types: ['question'], soFar: true }, ({ state, question }) => {
  if (state !== 'asked') return;
  console.log(`${question.toolName} ${JSON.stringify(question.args)}: approved`);
  swarm.answer({ id: question.id, by: 'the program', decision: 'approved' }).catch(console.error);
});

const { result } = await swarm.ask(
  { input: 'Sell 3 apples.' },
  {
    onNotice: (notice) => {
      if (notice.type === 'delta' && notice.delta.type === 'text') process.stdout.write(notice.delta.text);
    },
  },
);
console.log(`\n${result.finishReason}`);
await swarm.stop();
