<?php

/** The API of Amana for servers of businesses. Needs nothing but PHP and its curl extension. */

declare(strict_types=1);

require_once __DIR__ . '/errors.php';
require_once __DIR__ . '/retry.php';
require_once __DIR__ . '/transport.php';
require_once __DIR__ . '/pages.php';
require_once __DIR__ . '/webhooks.php';
require_once __DIR__ . '/resources.php';
