const en = {
  title: 'Second factor',
  off: 'Off',
  on: 'On',
  hint: 'With a second factor, signing in here needs your password and a code from an app on your phone. A stolen password alone is not enough.',
  programs:
    'Mail programs cannot send a code. While it is on, each of them needs an app password in place of your password.',
  begin: 'Set up',
  beginTitle: 'Set up the second factor',
  enabledNow: 'The second factor is on',
  since: 'On since',
  codesLeft: 'Backup codes left',
  codesFew: 'Turn it off and on again to get new ones.',
  disable: 'Turn off',
  disableTitle: 'Turn off the second factor?',
  disableHint: 'Signing in then needs only your password.',
  code: 'Code',
  codeHint: 'From your authenticator app, or one of your backup codes',
  disabledNow: 'The second factor is off',
}

const de: typeof en = {
  title: 'Zweiter Faktor',
  off: 'Aus',
  on: 'An',
  hint: 'Mit einem zweiten Faktor braucht die Anmeldung hier Ihr Passwort und einen Code aus einer App auf dem Telefon. Ein gestohlenes Passwort allein genügt nicht.',
  programs:
    'Mailprogramme können keinen Code senden. Solange er eingeschaltet ist, braucht jedes ein App-Passwort anstelle Ihres Passworts.',
  begin: 'Einrichten',
  beginTitle: 'Den zweiten Faktor einrichten',
  enabledNow: 'Der zweite Faktor ist eingeschaltet',
  since: 'Eingeschaltet',
  codesLeft: 'Übrige Ersatzcodes',
  codesFew: 'Schalten Sie ihn aus und wieder ein, um neue zu erhalten.',
  disable: 'Ausschalten',
  disableTitle: 'Den zweiten Faktor ausschalten?',
  disableHint: 'Für die Anmeldung genügt dann Ihr Passwort.',
  code: 'Code',
  codeHint: 'Aus der Authenticator-App, oder einer Ihrer Ersatzcodes',
  disabledNow: 'Der zweite Faktor ist ausgeschaltet',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
