/** Calls that come while one is running are answered by one more run. */
export function singleFile(work: () => Promise<void>) {
  let running: Promise<void> | undefined
  let again = false
  const run = () => {
    if (running) {
      again = true
      return
    }
    running = work().finally(() => {
      running = undefined
      if (again) {
        again = false
        run()
      }
    })
  }
  return Object.assign(run, { idle: async () => running })
}
