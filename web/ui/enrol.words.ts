const en = {
  scan: 'Scan the code with an authenticator app',
  scanHint: 'Or type this secret into the app:',
  qr: 'QR code for the authenticator app',
  secret: 'Secret',
  codes: 'Store the backup codes',
  codesHint: 'Each works once, when the phone is not at hand. They are shown only now.',
  stored: 'I have stored them',
  prove: 'Enter the code that the app shows',
  code: 'Code',
  enable: 'Turn on',
}

const de: typeof en = {
  scan: 'Den Code mit einer Authenticator-App einlesen',
  scanHint: 'Oder dieses Geheimnis in die App eintippen:',
  qr: 'QR-Code für die Authenticator-App',
  secret: 'Geheimnis',
  codes: 'Die Ersatzcodes aufbewahren',
  codesHint: 'Jeder gilt einmal, wenn das Telefon nicht da ist. Sie werden nur jetzt gezeigt.',
  stored: 'Ich habe sie aufbewahrt',
  prove: 'Den Code eingeben, den die App zeigt',
  code: 'Code',
  enable: 'Einschalten',
}

export const t: typeof en = LANGUAGE === 'de' ? de : en
