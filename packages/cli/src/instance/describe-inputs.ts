/** Describes the accepted inputs of an instance whose turn has not ended: the running one, and those that wait. */
export function describeInputs(count: number): string {
  return `${count} ${count === 1 ? 'input' : 'inputs'} not handled yet`;
}
