// The parts of css-tree without its dictionary of properties, which takes 5 MB of memory.
declare module 'css-tree/parser' {
  export { parse as default } from 'css-tree'
}
declare module 'css-tree/generator' {
  export { generate as default } from 'css-tree'
}
declare module 'css-tree/walker' {
  import { find } from 'css-tree'

  const walk: { find: typeof find }
  export default walk
}
