export const programFlags: readonly string[];

export function findBun(): string | undefined;
