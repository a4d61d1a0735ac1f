/** Thrown by a stage that has something to say about why a message is to be tried again later. */
export class Later extends Error {}
