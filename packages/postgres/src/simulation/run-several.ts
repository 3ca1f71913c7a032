/** Runs actions, several at a time. After one that returns false, no other begins. */
export async function runSeveral(width: number, actions: readonly (() => Promise<boolean>)[]): Promise<void> {
  const left = actions.toReversed();
  const work = async () => {
    for (let action = left.pop(); action; action = left.pop()) if (!(await action())) left.length = 0;
  };
  await Promise.all(Array.from({ length: width }, work));
}
