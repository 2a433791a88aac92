import a_package_that_nobody_has


def use(inputs):
    return a_package_that_nobody_has.use(inputs)
