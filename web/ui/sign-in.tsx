import { useEffect, useRef, useState } from 'preact/hooks'
import type { Client } from '../api/client.ts'
import { forgetEverything } from '../lib/query.ts'
import type { Kind } from '../lib/sessions.ts'
import { Field } from './field.tsx'
import { Form } from './form.tsx'
import { t } from './words.ts'

/** The step that the server requires after the password. */
export type Step = 'password' | 'code' | 'enrol' | 'new-password' | 'done'

interface Props {
  kind: Kind
  api: Client
  email?: string
  /** `enrol` and `new-password` are for the caller; `done` is a full session. */
  onStep(step: Step, typed: { email: string; password: string }): void
}

/** Password and second factor, the same for the three kinds of people. */
export function SignIn({ kind, api, email = '', onStep }: Props) {
  const [step, setStep] = useState<'password' | 'code'>('password')
  const typed = useRef({ email: '', password: '' })
  const proceed = (next: Step) => {
    if (next === 'code') setStep(next)
    else {
      if (next === 'done') forgetEverything()
      onStep(next, typed.current)
    }
  }
  useEffect(() => setStep('password'), [kind])
  if (step === 'code') {
    return (
      <Form
        submit={t.continue}
        onSubmit={async (values) => {
          proceed(await sendCode(kind, api, typed.current, values.text('code')))
        }}
        onCancel={() => setStep('password')}
      >
        <Field
          label={t.code}
          name="code"
          inputMode="numeric"
          autocomplete="one-time-code"
          hint={t.codeHint}
          required
          autofocus
        />
      </Form>
    )
  }
  return (
    <Form
      submit={t.signIn}
      onSubmit={async (values) => {
        typed.current = { email: values.text('email'), password: values.secret('password') }
        proceed(await sendPassword(kind, api, typed.current))
      }}
    >
      <Field
        label={t.email}
        name="email"
        type="email"
        autocomplete="username"
        value={email}
        required
        autofocus
      />
      <Field
        label={t.password}
        name="password"
        type="password"
        autocomplete="current-password"
        required
      />
    </Form>
  )
}

interface Typed {
  email: string
  password: string
}

async function sendPassword(kind: Kind, api: Client, { email, password }: Typed): Promise<Step> {
  if (kind === 'dashboard') {
    const answer = await api.post('/auth/login', { body: { email, password } })
    if (!answer.two_factor_required) return 'done'
    return answer.two_factor_enrolled ? 'code' : 'enrol'
  }
  if (kind === 'operator') {
    const answer = await api.post('/platform/auth/login', { body: { email, password } })
    return answer.mfa_enrolled ? 'code' : 'enrol'
  }
  return signInToMailbox(api, { email, password })
}

async function sendCode(kind: Kind, api: Client, typed: Typed, code: string): Promise<Step> {
  if (kind === 'dashboard') await api.post('/auth/two-factor/verify', { body: { code } })
  else if (kind === 'operator') await api.post('/platform/auth/mfa', { body: { token: code } })
  else return signInToMailbox(api, typed, code)
  return 'done'
}

async function signInToMailbox(api: Client, { email, password }: Typed, code?: string) {
  const answer = await api.post('/mailbox-auth/login', {
    body: { email_address: email, password, ...(code && { two_factor_code: code }) },
  })
  if (answer.two_factor_required) return 'code'
  return answer.must_change_password ? 'new-password' : 'done'
}
