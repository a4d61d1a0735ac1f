import type { Locator } from 'playwright-core'

/** Types the name that a dialog asks for, and presses its button. */
export async function confirmByName(dialog: Locator, button: string): Promise<void> {
  const submit = dialog.getByRole('button', { name: button, exact: true })
  const label = dialog.locator('label').filter({ hasText: / to confirm$/ })
  const name = /^Type (.*) to confirm$/s.exec((await label.textContent()) ?? '')?.[1] ?? ''
  const field = dialog.locator('[name="confirmation"]')
  await field.fill(`not ${name}`)
  if (await submit.isEnabled()) throw new Error('another name is accepted')
  await field.fill(name)
  await submit.click()
}
