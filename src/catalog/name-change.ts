/** How a change of names ended; `absent`: what it is about is not there, `exists`: the name is taken. */
export type NameChange = 'done' | 'absent' | 'exists';
