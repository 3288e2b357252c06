<?php

/**
 * Client library of the Amana API for servers of businesses. It has no dependencies except PHP's curl
 * extension.
 */

declare(strict_types=1);

require_once __DIR__ . '/errors.php';
require_once __DIR__ . '/retry.php';
require_once __DIR__ . '/transport.php';
require_once __DIR__ . '/pages.php';
require_once __DIR__ . '/webhooks.php';
require_once __DIR__ . '/resources.php';
