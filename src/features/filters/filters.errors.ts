import { defineError } from '../../errors.ts'

export const AccountNotFound = defineError<string>({
  status: 404,
  message: (email) => `Account ${email} not found`,
})

export const ScriptNotFound = defineError<string>({
  status: 404,
  message: (name) => `Script '${name}' not found`,
})

export const InvalidScriptName = defineError({
  status: 400,
  message: 'Script name must be alphanumeric (with hyphens/underscores)',
})

export const ReservedScriptName = defineError({
  status: 400,
  message: "Names that begin with svc- are the mailbox holder's own; choose another one",
})

export const HolderScriptActive = defineError<{ active: string }>({
  status: 409,
  code: 'HOLDER_SCRIPT_ACTIVE',
  message: ({ active }) =>
    `The mailbox runs a script of its holder's own, '${active}'; send replace: true to switch it off`,
  data: ({ active }) => ({ active }),
})
