declare module 'html-to-text' {
  interface Options {
    wordwrap?: number | false
    limits?: Record<string, number | string>
    selectors?: { selector: string; format?: string; options?: object }[]
  }
  export function compile(options: Options): (html: string) => string
}
