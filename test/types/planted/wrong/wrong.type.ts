// Must not compile: the first line is wrong and says nothing, the second says it is wrong and is not.
export const limit: number = "12";
// @ts-expect-error a number is a number
export const right: number = 12;
