import { type ApiError, isSessionEnd } from '../api/client.ts'
import { asApiError, forget, isNotFound } from './query.ts'

let show: (error: ApiError) => void = () => {}

/** Sets what shows the error of a change that has no form of its own. */
export const onFailure = (listener: (error: ApiError) => void): void => {
  show = listener
}

/** Runs a change of a menu item, a row or an undo. An error is shown in a dialog. */
export async function attempt(act: () => unknown): Promise<void> {
  try {
    await act()
  } catch (problem) {
    const error = asApiError(problem)
    // The end of a session has a dialog of its own.
    if (!isSessionEnd(error)) show(error)
    if (isNotFound(error)) forget('')
  }
}

/** Shows the errors of changes that nothing else has caught. */
export const showUncaught = (): void =>
  addEventListener('unhandledrejection', (event) => {
    event.preventDefault()
    void attempt(() => Promise.reject(event.reason))
  })
