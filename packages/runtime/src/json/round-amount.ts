/** Rounds an amount to six digits after the point, for people: sums of money have rounding errors. */
export function roundAmount(amount: number): number {
  return Number(amount.toFixed(6));
}
